// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a symbolizer costs that dies before its parent looks at it. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "costs.h"
#include "reader_budgets.h"
#include "speed.h"
#include "tap.h"

#define NS_PER_S	UINT64_C(1000000000)

/* Processor time. A process takes less than a tenth of it to start. */
#define BUSY_NS		UINT64_C(50000000)

static void be_busy(void)
{
	struct timespec time;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	} while ((uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec < BUSY_NS);
	_exit(0);
}

/* A symbolizer that works for BUSY_NS on a file and dies, which its parent sees then. */
static void die(struct kr_costs *costs, struct kr_cost *file)
{
	siginfo_t how;
	pid_t pid = fork();

	if (!pid)
		be_busy();
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	kr_costs_of_process(costs, pid);
	kr_costs_turn(costs, file);
	if (waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT))
		tap_bail("waitid: %s", strerror(errno));
	kr_costs_end(costs);
	(void)waitpid(pid, NULL, 0);
}

int main(void)
{
	struct kr_costs costs = { 0 };
	struct kr_cost file = { 0 }, others = { 0 };
	unsigned int i;

	(void)kr_slowness();
	die(&costs, &file);
	tap_ok(file.ns >= BUSY_NS * 9 / 10, "a file is charged for the symbolizer that it killed");
	tap_ok(costs.all.ns == file.ns, "and so are all together");
	tap_ok(!kr_costs_are_spent(&costs, &file), "one such file may cost more");

	for (i = 0; i < 3; i++)
		die(&costs, &others);
	tap_ok(costs.all.ns == file.ns + others.ns && others.ns >= 3 * BUSY_NS * 9 / 10,
	       "others are charged for others");

	costs.all.ns = kr_slowness() * KR_TRACE_NS - BUSY_NS / 2;
	tap_ok(!kr_costs_are_all_spent(&costs), "what is left of a trace's time");
	die(&costs, &others);
	tap_ok(kr_costs_are_all_spent(&costs), "is spent by a file that kills once more");
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What files cost: see costs.h. */
#include <glib.h>
#include "costs.h"
#include "reader_budgets.h"
#include "speed.h"

#define NS_PER_S	UINT64_C(1000000000)
#define NS_PER_MS	UINT64_C(1000000)

static uint64_t time_of(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

void kr_costs_of_process(struct kr_costs *costs, pid_t pid)
{
	(void)clock_getcpuclockid(pid, &costs->clock);
	costs->charged = NULL;
	costs->busy = 0;
}

static void add(struct kr_costs *costs, uint64_t ns)
{
	costs->charged->ns += ns;
	costs->all.ns += ns;
}

static void settle(struct kr_costs *costs)
{
	uint64_t busy = time_of(costs->clock);

	if (costs->charged && busy > costs->busy)
		add(costs, busy - costs->busy);
	costs->busy = busy;
	costs->since = time_of(CLOCK_MONOTONIC);
}

/* To look is a system call: only when another file's turn begins, or after a while. */
void kr_costs_turn(struct kr_costs *costs, struct kr_cost *file)
{
	if (costs->charged != file ||
	    time_of(CLOCK_MONOTONIC) - costs->since > KR_LOOK_MS * NS_PER_MS)
		settle(costs);
	costs->charged = file;
}

void kr_costs_waited(struct kr_costs *costs)
{
	/* What waits for a file server is not busy. */
	add(costs, KR_LOOK_MS * NS_PER_MS / KR_WAIT_SHARE);
	settle(costs);
}

/* Charge what it has used since the last look: it may have died before the first. */
void kr_costs_end(struct kr_costs *costs)
{
	settle(costs);
}

void kr_costs_allow(struct kr_costs *costs, struct kr_cost *file, uint64_t bytes)
{
	file->bytes += bytes;
	costs->all.bytes += bytes;
}

static bool exceeds(const struct kr_cost *cost, uint64_t free, uint64_t most_bytes)
{
	return cost->ns > kr_slowness() * (free + MIN(cost->bytes, most_bytes) * KR_FILE_NS_PER_BYTE);
}

bool kr_costs_are_all_spent(const struct kr_costs *costs)
{
	return exceeds(&costs->all, KR_TRACE_NS, KR_TRACE_BYTES) ||
	       costs->answer_bytes > KR_ANSWER_BYTES;
}

bool kr_costs_are_spent(const struct kr_costs *costs, const struct kr_cost *file)
{
	return exceeds(file, KR_FILE_NS, KR_FILE_BYTES) || kr_costs_are_all_spent(costs);
}

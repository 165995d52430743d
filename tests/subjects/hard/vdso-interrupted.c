// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A signal while the vDSO's code runs. Where that is, chance decides: the program
 * sees it by the interrupted address, and tries until it has happened.
 *
 * stack: @ask handler ... @[vdso] tell_time main ... _start
 * stop: COMPLETE, all proven
 */
#include <sys/time.h>
#include "hard.h"
#include "vdso.h"

static uint64_t vdso_start, vdso_end;
static int (*get_cpu)(unsigned int *, unsigned int *, void *);

FRAME static void handler(int number, siginfo_t *info, void *context)
{
	uint64_t ip = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	(void)info;
	if (!asked && ip - vdso_start < vdso_end - vdso_start)
		ask();
	STAY();
}

FRAME static void tell_time(void)
{
	unsigned int cpu;
	int i;

	while (!asked)
		for (i = 0; i < 1000 && !asked; i++)
			get_cpu(&cpu, NULL, NULL);
}

int main(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };

	get_cpu = find_in_vdso("__vdso_getcpu", &vdso_start, &vdso_end);
	begin();
	handle(SIGALRM, handler, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	tell_time();
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	report();
	return 0;
}

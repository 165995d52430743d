// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * makecontext() and swapcontext(): a stack of the program's own ends at libc's
 * __start_context. No call led there, and the byte before it is padding, which has
 * no FDE. It has no caller: rbx says so, where makecontext() leaves the stack's
 * beginning. Back on the first stack, that is as it was.
 *
 * stack: @ask fiber_work fiber ...
 * stop: COMPLETE, all proven
 * stack: @ask after switch_over main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask fiber ...
 * stop: COMPLETE, all proven
 */
#include "hard.h"

static ucontext_t home, away;
static char bytes[65536];

FRAME static void fiber_work(void)
{
	ask();
	STAY();
}

static void fiber(void)
{
	/* The walk looks at the code there, but faults no page in. */
	(void)*(volatile const char *)__builtin_return_address(0);
	fiber_work();
	swapcontext(&away, &home);
	ask();
	STAY();
}

FRAME static void after(void)
{
	ask();
	STAY();
}

FRAME static void switch_over(void)
{
	swapcontext(&home, &away);
	after();
	swapcontext(&home, &away);
	STAY();
}

int main(void)
{
	begin();
	getcontext(&away);
	away.uc_stack.ss_sp = bytes;
	away.uc_stack.ss_size = sizeof(bytes);
	away.uc_link = &home;
	makecontext(&away, fiber, 0);
	switch_over();
	report();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A handler on an alternate stack: its frames lead to the stack that was left,
 * which lies above (the program's own, from .bss), and below (the program's stack
 * again, from one of its frames that is deeper than the alternate stack's place).
 *
 * stack: @ask handler ... @victim run main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask handler ... @victim run on_top main ... _start
 * stop: COMPLETE, all proven
 */
#include "trap.h"

static char low[65536];

FRAME static void run(void)
{
	victim();
	STAY();
}

/* The alternate stack is in the caller's frame: above all that is interrupted. */
FRAME static void on_top(void)
{
	char high[65536];

	alternate_stack(high, sizeof(high));
	run();
	STAY();
	alternate_stack(low, sizeof(low));
}

int main(void)
{
	begin();
	alternate_stack(low, sizeof(low));
	handle(SIGILL, handler, SA_ONSTACK);
	run();
	on_top();
	report();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A call through a null pointer: the handler interrupted address 0, where there is
 * no code, and only the call has happened. What is behind is no more than likely.
 * Then the same for an address that is not mapped.
 *
 * stack: @ask handler ... 0x0 caller main ... _start
 * stop: COMPLETE, 4 proven
 * stack: @ask handler ... 0x123450000 caller main ... _start
 * stop: COMPLETE, 4 proven
 */
#include <setjmp.h>
#include "hard.h"

static sigjmp_buf back;

FRAME static void handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	ask();
	siglongjmp(back, 1);
}

FRAME static void caller(void (*function)(void))
{
	function();
	STAY();
}

int main(void)
{
	void (*volatile nothing)(void) = NULL;
	void (*volatile nowhere)(void) = (void *)0x123450000;

	begin();
	handle(SIGSEGV, handler, 0);
	if (!sigsetjmp(back, 1))
		caller(nothing);
	if (!sigsetjmp(back, 1))
		caller(nowhere);
	report();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A signal on the first instruction of a function. The byte before belongs to a
 * function whose rule is another one, so that looking the interrupted address up
 * as if it were a return address gives a wrong caller.
 *
 * stack: @ask handler ... @victim+0 call_victim main ... _start
 * stop: COMPLETE, all proven
 */
#include "hard.h"

void victim(void);
__asm__(".pushsection .text\n"
	".type before, @function\n"
	"before: .cfi_startproc\n"
	".cfi_def_cfa_offset 4096\n"
	"nop\n"
	".cfi_endproc\n"
	".size before, . - before\n"
	".globl victim\n"
	".type victim, @function\n"
	"victim: .cfi_startproc\n"
	"ud2\n"
	"ret\n"
	".cfi_endproc\n"
	".size victim, . - victim\n"
	".popsection");

FRAME static void handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	ask();
	skip_ud2(context);
}

FRAME static void call_victim(void)
{
	victim();
	STAY();
}

int main(void)
{
	begin();
	handle(SIGILL, handler, 0);
	call_victim();
	report();
	return 0;
}

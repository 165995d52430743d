// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * 5,000 states remembered one in the other, and restored: the row behind them is
 * the one before them.
 *
 * stack: @ask remembering caller main ... _start
 * stop: COMPLETE, all proven
 */
#include "hard.h"

void remembering(void);
__asm__(".pushsection .text\n"
	".globl remembering\n"
	".type remembering, @function\n"
	"remembering: .cfi_startproc\n"
	"sub $24, %rsp\n"
	".cfi_def_cfa_offset 32\n"
	".rept 5000\n"
	".cfi_remember_state\n"
	".cfi_def_cfa_offset 4096\n"
	".endr\n"
	"nop\n"
	".rept 5000\n"
	".cfi_restore_state\n"
	".endr\n"
	"call ask\n"
	"add $24, %rsp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size remembering, . - remembering\n"
	".popsection");

MAIN_OF(remembering)

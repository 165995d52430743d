// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A CFA whose expression jumps to itself for ever (DW_OP_skip -3): the walk ends
 * there and says why. Its budget is for a walk, so that two of them in a row do not
 * make it longer.
 *
 * stack: @ask endless
 * stop: EXPR_BUDGET, all proven
 */
#include "hard.h"

void endless(void);
__asm__(".pushsection .text\n"
	".globl endless\n"
	".type endless, @function\n"
	"endless: .cfi_startproc\n"
	"sub $8, %rsp\n"
	/* DW_CFA_def_cfa_expression, 5 bytes: DW_OP_breg7 16; DW_OP_skip -3 */
	".cfi_escape 0x0f, 0x05, 0x77, 0x10, 0x2f, 0xfd, 0xff\n"
	"call ask\n"
	"add $8, %rsp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size endless, . - endless\n"
	".popsection");

MAIN_OF(endless)

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Operators of DWARF expressions (DWARF 5 2.5), except those that are not legal in CFI
 * (6.4.2): those that need a compilation unit, an object, a frame base, TLS or another
 * address space, and location descriptions (DW_OP_reg, DW_OP_piece, DW_OP_stack_value ...),
 * which give no value. DW_OP_addr is the file's address: nothing relocates .eh_frame.
 */
#ifndef KUW_OP_H
#define KUW_OP_H

#include "cursor.h"

enum {
	DW_OP_addr = 0x03, DW_OP_deref = 0x06,
	DW_OP_const1u = 0x08, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s,
	DW_OP_const4u, DW_OP_const4s, DW_OP_const8u, DW_OP_const8s,
	DW_OP_constu, DW_OP_consts,
	DW_OP_dup, DW_OP_drop, DW_OP_over, DW_OP_pick, DW_OP_swap, DW_OP_rot,
	DW_OP_abs = 0x19, DW_OP_and, DW_OP_div, DW_OP_minus, DW_OP_mod,
	DW_OP_mul, DW_OP_neg, DW_OP_not, DW_OP_or, DW_OP_plus,
	DW_OP_plus_uconst, DW_OP_shl, DW_OP_shr, DW_OP_shra, DW_OP_xor,
	DW_OP_bra, DW_OP_eq, DW_OP_ge, DW_OP_gt, DW_OP_le, DW_OP_lt, DW_OP_ne,
	DW_OP_skip,
	DW_OP_lit0 = 0x30, DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70, DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92, DW_OP_deref_size = 0x94, DW_OP_nop = 0x96,
};

/* An operator and its operands, before anything is done. */
struct kuw_op {
	u8 code;	/* DW_OP_* */
	u64 operand;	/* sign-extended where it has a sign; 0 if there is none */
	u64 reg;	/* the register that it names; 0 if it names none */
};

/*
 * Read an operator. @word: bytes of a word. Return: whether it is known and legal in CFI, and
 * its operands are complete.
 */
bool kuw_op_read(struct kuw_cur *c, struct kuw_op *op, u32 word);

#endif /* KUW_OP_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The operators of DWARF expressions: see op.h. */
#include "op.h"
#include "arch/arch.h"

bool kuw_op_read(struct kuw_cur *c, struct kuw_op *op, u32 word)
{
	op->code = kuw_u8(c);
	op->operand = 0;
	op->reg = 0;
	switch (op->code) {
	case DW_OP_addr:
		op->operand = word == KUW_WORD ? kuw_u64(c) : kuw_u32(c);
		break;
	case DW_OP_const8u:
	case DW_OP_const8s:
		op->operand = kuw_u64(c);
		break;
	case DW_OP_const1u:
	case DW_OP_pick:
		op->operand = kuw_u8(c);
		break;
	case DW_OP_deref_size:
		op->operand = kuw_u8(c);
		if (!op->operand || op->operand > word)
			return false;
		break;
	case DW_OP_const1s:
		op->operand = (s8)kuw_u8(c);
		break;
	case DW_OP_const2u:
		op->operand = kuw_u16(c);
		break;
	case DW_OP_const2s:
	case DW_OP_bra:
	case DW_OP_skip:
		op->operand = (s16)kuw_u16(c);
		break;
	case DW_OP_const4u:
		op->operand = kuw_u32(c);
		break;
	case DW_OP_const4s:
		op->operand = (s32)kuw_u32(c);
		break;
	case DW_OP_constu:
	case DW_OP_plus_uconst:
		op->operand = kuw_uleb(c);
		break;
	case DW_OP_consts:
		op->operand = kuw_sleb(c);
		break;
	case DW_OP_lit0 ... DW_OP_lit31:
		op->operand = op->code - DW_OP_lit0;
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		op->reg = op->code - DW_OP_breg0;
		op->operand = kuw_sleb(c);
		break;
	case DW_OP_bregx:
		op->reg = kuw_uleb(c);
		op->operand = kuw_sleb(c);
		break;
	case DW_OP_deref:
	case DW_OP_dup ... DW_OP_over:
	case DW_OP_swap:
	case DW_OP_rot:
	case DW_OP_abs ... DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
	case DW_OP_nop:
		break;
	default:
		return false;
	}
	if (word != KUW_WORD)
		op->reg = kuw_i386_reg(op->reg);
	return kuw_good(c) && op->reg < KUW_NR_REGS;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* DWARF expressions: which ones are valid, what a rule can say without them, and their value. */
#include "expr.h"
#include "arch/arch.h"
#include "budgets.h"
#include "op.h"

bool kuw_expr_check(const u8 *bytes, u32 len, u32 word)
{
	struct kuw_cur c = kuw_cur(bytes, len);
	struct kuw_op op;

	if (!len || len > KUW_MAX_EXPR_BYTES)
		return false;
	while (kuw_left(&c))
		if (!kuw_op_read(&c, &op, word))
			return false;
	return true;
}

bool kuw_expr_simplify(const u8 *bytes, u32 len, u32 word, struct kuw_loc *loc)
{
	struct kuw_cur c = kuw_cur(bytes, len);
	struct kuw_loc new = *loc;
	struct kuw_op op;

	/* The operand's bits are signed for breg. */
	if (!kuw_op_read(&c, &op, word) || op.code < DW_OP_breg0 ||
	    op.code > DW_OP_breg31 || (s64)op.operand != (s32)op.operand)
		return false;
	new.reg = op.reg;
	new.off = op.operand;
	new.arg = 0;
	new.how = KUW_REG;
	if (kuw_left(&c)) {
		if (!kuw_op_read(&c, &op, word) || op.code != DW_OP_deref)
			return false;
		new.how = KUW_MEM;
		if (kuw_left(&c)) {
			if (!kuw_op_read(&c, &op, word) || op.code != DW_OP_plus_uconst ||
			    op.operand > 255 || kuw_left(&c))
				return false;
			new.arg = op.operand;
		}
	}
	*loc = new;
	return true;
}

/*
 * Values have the bits of an address (DWARF 5 2.5.1.1). Values of 32 bits are kept
 * sign-extended. So the lower half of each result is right, except for operators that
 * take a value as unsigned, or shift: these get the lower halves.
 */
static u64 binary(u8 code, u64 a, u64 b, u32 word, bool *bad)
{
	u64 bits = 8 * word;

	if (word != KUW_WORD && (code == DW_OP_mod || code == DW_OP_shr))
		a = (u32)a;
	if (word != KUW_WORD && (code == DW_OP_mod || (code >= DW_OP_shl && code <= DW_OP_shra)))
		b = (u32)b;
	switch (code) {
	case DW_OP_and:		return a & b;
	case DW_OP_minus:	return a - b;
	case DW_OP_mul:		return a * b;
	case DW_OP_or:		return a | b;
	case DW_OP_plus:	return a + b;
	case DW_OP_shl:
		return b < bits ? a << b : 0;
	case DW_OP_shr:
		return b < bits ? a >> b : 0;
	case DW_OP_shra:
		return (s64)a >> (b < bits ? b : bits - 1);
	case DW_OP_xor:		return a ^ b;
	case DW_OP_eq:		return a == b;
	case DW_OP_ge:		return (s64)a >= (s64)b;
	case DW_OP_gt:		return (s64)a > (s64)b;
	case DW_OP_le:		return (s64)a <= (s64)b;
	case DW_OP_lt:		return (s64)a < (s64)b;
	case DW_OP_ne:		return a != b;
	case DW_OP_div:
		/* Signed. The processor traps if the quotient overflows. */
		if (b && (b != ~0ULL || a != 1ULL << 63))
			return (s64)a / (s64)b;
		break;
	case DW_OP_mod:
		if (b)
			return a % b;
		break;
	}
	*bad = true;
	return 0;
}

/* The port reads only aligned words. One or two of them have the bytes. */
bool kuw_read_user(u64 addr, u64 size, u64 *value)
{
	u64 lo, hi = 0, shift = addr % KUW_WORD * 8;

	if (!size || size > KUW_WORD || addr + size < addr)
		return false;
	if (kuw_port_read(addr & -KUW_WORD, &lo))
		return false;
	if (addr % KUW_WORD + size > KUW_WORD &&
	    kuw_port_read((addr & -KUW_WORD) + KUW_WORD, &hi))
		return false;
	lo >>= shift;
	if (shift)
		lo |= hi << (64 - shift);
	*value = size == KUW_WORD ? lo : lo & ((1ULL << (8 * size)) - 1);
	return true;
}

u32 kuw_expr_eval(const u8 *bytes, u32 len, struct kuw_expr_regs *regs,
		  const u64 *initial, u64 *value)
{
	struct kuw_cur c = kuw_cur(bytes, len);
	u64 stack[KUW_EXPR_STACK], top;
	struct kuw_op op;
	bool bad = false;
	u32 n = 0;

	if (initial)
		stack[n++] = *initial;
	while (kuw_left(&c)) {
		/* An operator leaves its result on top: see binary(). */
		if (n && regs->word != KUW_WORD)
			stack[n - 1] = (s32)stack[n - 1];
		if (!regs->steps)
			return KUNWIND_STOP_EXPR_BUDGET;
		regs->steps--;
		if (!kuw_op_read(&c, &op, regs->word))
			return KUNWIND_STOP_EXPR_BAD;
		switch (op.code) {
		case DW_OP_addr:
		case DW_OP_const1u ... DW_OP_consts:
		case DW_OP_lit0 ... DW_OP_lit31:
			top = op.operand;
			goto push;
		case DW_OP_breg0 ... DW_OP_breg31:
		case DW_OP_bregx:
			if (!(regs->known & 1u << op.reg)) {
				regs->unknown = true;
				return KUNWIND_STOP_REG_UNKNOWN;
			}
			top = regs->r[op.reg] + op.operand;
			goto push;
		case DW_OP_dup:
			op.operand = 0;
			goto pick;
		case DW_OP_over:
			op.operand = 1;
			goto pick;
		case DW_OP_pick:
pick:
			if (op.operand >= n)
				return KUNWIND_STOP_EXPR_BAD;
			top = stack[n - 1 - op.operand];
push:
			if (n == KUW_EXPR_STACK)
				return KUNWIND_STOP_EXPR_BAD;
			stack[n++] = top;
			continue;
		case DW_OP_nop:
			continue;
		case DW_OP_skip:
			goto jump;
		}
		/* All other operators take at least one value. */
		if (!n)
			return KUNWIND_STOP_EXPR_BAD;
		top = stack[n - 1];
		switch (op.code) {
		case DW_OP_drop:
			n--;
			continue;
		case DW_OP_deref:
			op.operand = regs->word;
			fallthrough;
		case DW_OP_deref_size:
			if (regs->word != KUW_WORD)
				top = (u32)top;
			if (!kuw_read_user(top, op.operand, &stack[n - 1]))
				return KUNWIND_STOP_STACK_FAULT;
			continue;
		case DW_OP_abs:
			/* Signed, as DW_OP_div; the smallest number is its own negative. */
			stack[n - 1] = (s64)top < 0 ? -top : top;
			continue;
		case DW_OP_neg:
			stack[n - 1] = -top;
			continue;
		case DW_OP_not:
			stack[n - 1] = ~top;
			continue;
		case DW_OP_plus_uconst:
			stack[n - 1] = top + op.operand;
			continue;
		case DW_OP_bra:
			n--;
			if (top)
				goto jump;
			continue;
		}
		if (n < 2)
			return KUNWIND_STOP_EXPR_BAD;
		if (op.code == DW_OP_swap) {
			stack[n - 1] = stack[n - 2];
			stack[n - 2] = top;
		} else if (op.code == DW_OP_rot) {
			if (n < 3)
				return KUNWIND_STOP_EXPR_BAD;
			stack[n - 1] = stack[n - 2];
			stack[n - 2] = stack[n - 3];
			stack[n - 3] = top;
		} else {
			n--;
			stack[n - 1] = binary(op.code, stack[n - 1], top, regs->word, &bad);
			if (bad)
				return KUNWIND_STOP_EXPR_BAD;
		}
		continue;
jump:
		if (!kuw_go(&c, bytes, op.operand))
			return KUNWIND_STOP_EXPR_BAD;
	}
	if (!n)
		return KUNWIND_STOP_EXPR_BAD;
	*value = regs->word == KUW_WORD ? stack[n - 1] : (u32)stack[n - 1];
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* DWARF expressions: which ones are valid, what a rule can say without them, and their value. */
#include "expr.h"
#include "arch/arch.h"
#include "budgets.h"

/*
 * Operators (DWARF 5 2.5), except those that are not legal in CFI (6.4.2): those that need a
 * compilation unit, an object, a frame base, TLS or another address space, and location
 * descriptions (DW_OP_reg, DW_OP_piece, DW_OP_stack_value ...), which give no value. DW_OP_addr
 * is the file's address: nothing relocates .eh_frame.
 */
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
struct op {
	u8 code;	/* DW_OP_* */
	u64 operand;	/* sign-extended where it has a sign; 0 if there is none */
	u64 reg;	/* the register that it names; 0 if it names none */
};

/*
 * Read an operator. @word: bytes of a word. Return: whether it is known and legal in CFI, and
 * its operands are complete.
 */
static bool read_op(struct kuw_cur *c, struct op *op, u32 word)
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
	op->reg = kuw_place_of(word, op->reg);
	return kuw_good(c) && op->reg < KUW_NR_REGS;
}

bool kuw_expr_check(const u8 *bytes, u32 len, u32 word)
{
	struct kuw_cur c = kuw_cur(bytes, len);
	struct op op;

	if (!len || len > KUW_MAX_EXPR_BYTES)
		return false;
	while (kuw_left(&c))
		if (!read_op(&c, &op, word))
			return false;
	return true;
}

bool kuw_expr_simplify(const u8 *bytes, u32 len, u32 word, struct kuw_loc *loc)
{
	struct kuw_cur c = kuw_cur(bytes, len);
	struct kuw_loc new = *loc;
	struct op op;

	/* The operand's bits are signed for breg. */
	if (!read_op(&c, &op, word) || op.code < DW_OP_breg0 ||
	    op.code > DW_OP_breg31 || (s64)op.operand != (s32)op.operand)
		return false;
	new.reg = op.reg;
	new.off = op.operand;
	new.arg = 0;
	new.how = KUW_REG;
	if (kuw_left(&c)) {
		if (!read_op(&c, &op, word) || op.code != DW_OP_deref)
			return false;
		new.how = KUW_MEM;
		if (kuw_left(&c)) {
			if (!read_op(&c, &op, word) || op.code != DW_OP_plus_uconst ||
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
 * take values as unsigned: these get the lower halves.
 */
static u64 binary(u8 code, u64 a, u64 b, u32 word, bool *bad)
{
	if (word != KUW_WORD && (code == DW_OP_mod || code == DW_OP_shr)) {
		a = (u32)a;
		b = (u32)b;
	}
	switch (code) {
	case DW_OP_and:		return a & b;
	case DW_OP_minus:	return a - b;
	case DW_OP_mul:		return a * b;
	case DW_OP_or:		return a | b;
	case DW_OP_plus:	return a + b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return (s64)a >> (b < 64 ? b : 63);
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
	struct op op;
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
		if (!read_op(&c, &op, regs->word))
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
			top = regs->r[kuw_port_index(op.reg, KUW_NR_REGS)] + op.operand;
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
			top = stack[n - 1 - kuw_port_index(op.operand, n)];
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
			if (!kuw_read_user(kuw_narrow(regs->word, top), op.operand, &stack[n - 1]))
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
	*value = kuw_narrow(regs->word, stack[n - 1]);
	return 0;
}

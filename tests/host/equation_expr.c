// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DWARF expressions (5, section 2.5), evaluated in the plainest way there is.
 * An expression that is legal in CFI names no type, object or call.
 */
#include <dwarf.h>
#include <string.h>
#include "equation.h"

#define DEPTH	64
#define STEPS	100000

struct machine {
	const struct eq_state *s;
	const uint8_t *expr;
	uint64_t len, pos;
	uint64_t stack[DEPTH];
	unsigned int depth;
	bool bad;
};

static uint64_t fixed(struct machine *m, unsigned int size)
{
	uint64_t v = 0;

	if (m->len - m->pos < size) {
		m->bad = true;
		m->pos = m->len;
		return 0;
	}
	memcpy(&v, m->expr + m->pos, size);
	m->pos += size;
	return v;
}

static uint64_t sfixed(struct machine *m, unsigned int size)
{
	uint64_t v = fixed(m, size);
	unsigned int shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static uint64_t leb(struct machine *m, bool is_signed)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)fixed(m, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !m->bad);
	if (is_signed && byte & 0x40 && shift < 64)
		v |= ~0ULL << shift;
	return v;
}

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == DEPTH)
		m->bad = true;
	else
		m->stack[m->depth++] = m->s->word == 8 ? v : (uint32_t)v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		m->bad = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static uint64_t pick(struct machine *m, uint64_t index)
{
	if (index >= m->depth) {
		m->bad = true;
		return 0;
	}
	return m->stack[m->depth - 1 - index];
}

static uint64_t reg(struct machine *m, uint64_t number)
{
	unsigned int place = eq_place(number, m->s->word);

	if (place == EQ_REGS) {
		m->bad = true;
		return 0;
	}
	return m->s->regs[place];
}

static bool binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	unsigned int bits = 8 * m->s->word;

	if (bits == 32) {
		sa = (int32_t)a;
		sb = (int32_t)b;
	}

	switch (op) {
	case DW_OP_and: push(m, a & b); break;
	case DW_OP_or: push(m, a | b); break;
	case DW_OP_xor: push(m, a ^ b); break;
	case DW_OP_plus: push(m, a + b); break;
	case DW_OP_minus: push(m, a - b); break;
	case DW_OP_mul: push(m, a * b); break;
	case DW_OP_shl: push(m, b < bits ? a << b : 0); break;
	case DW_OP_shr: push(m, b < bits ? a >> b : 0); break;
	case DW_OP_shra: push(m, (uint64_t)(sa >> (b < bits ? b : bits - 1))); break;
	case DW_OP_div:
		if (!b)
			return false;
		push(m, sb == -1 ? -a : (uint64_t)(sa / sb));
		break;
	case DW_OP_mod:
		/* Unsigned, as in libgcc, libdw and gdb. */
		if (!b)
			return false;
		push(m, a % b);
		break;
	case DW_OP_eq: push(m, a == b); break;
	case DW_OP_ne: push(m, a != b); break;
	case DW_OP_lt: push(m, sa < sb); break;
	case DW_OP_le: push(m, sa <= sb); break;
	case DW_OP_gt: push(m, sa > sb); break;
	case DW_OP_ge: push(m, sa >= sb); break;
	default: return false;
	}
	return true;
}

static bool step(struct machine *m)
{
	uint8_t op = (uint8_t)fixed(m, 1);
	uint64_t a, b, c;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(m, op - DW_OP_lit0);
		return true;
	}
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		a = leb(m, true);
		push(m, reg(m, op - DW_OP_breg0) + a);
		return true;
	}
	switch (op) {
	case DW_OP_nop: break;
	case DW_OP_addr: push(m, fixed(m, m->s->word)); break;
	case DW_OP_const1u: push(m, fixed(m, 1)); break;
	case DW_OP_const1s: push(m, sfixed(m, 1)); break;
	case DW_OP_const2u: push(m, fixed(m, 2)); break;
	case DW_OP_const2s: push(m, sfixed(m, 2)); break;
	case DW_OP_const4u: push(m, fixed(m, 4)); break;
	case DW_OP_const4s: push(m, sfixed(m, 4)); break;
	case DW_OP_const8u:
	case DW_OP_const8s: push(m, fixed(m, 8)); break;
	case DW_OP_constu: push(m, leb(m, false)); break;
	case DW_OP_consts: push(m, leb(m, true)); break;
	case DW_OP_bregx:
		a = leb(m, false);
		b = leb(m, true);
		push(m, reg(m, a) + b);
		break;
	case DW_OP_dup: push(m, pick(m, 0)); break;
	case DW_OP_drop: pop(m); break;
	case DW_OP_over: push(m, pick(m, 1)); break;
	case DW_OP_pick: push(m, pick(m, fixed(m, 1))); break;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		break;
	case DW_OP_rot:
		a = pop(m);
		b = pop(m);
		c = pop(m);
		push(m, a);
		push(m, c);
		push(m, b);
		break;
	case DW_OP_deref: push(m, eq_memory(m->s, pop(m), m->s->word)); break;
	case DW_OP_deref_size:
		a = fixed(m, 1);
		if (!a || a > m->s->word)
			return false;
		push(m, eq_memory(m->s, pop(m), (unsigned int)a));
		break;
	case DW_OP_abs:
		a = pop(m);
		push(m, a >> (8 * m->s->word - 1) ? -a : a);
		break;
	case DW_OP_neg: push(m, -pop(m)); break;
	case DW_OP_not: push(m, ~pop(m)); break;
	case DW_OP_plus_uconst:
		a = leb(m, false);
		push(m, pop(m) + a);
		break;
	case DW_OP_skip:
	case DW_OP_bra:
		a = sfixed(m, 2);
		if (op == DW_OP_bra && !pop(m))
			break;
		if (m->pos + a > m->len)
			return false;
		m->pos += a;
		break;
	default:
		return binary(m, op);
	}
	return true;
}

bool eq_expr(const struct eq_state *s, const uint8_t *expr, uint64_t len,
	     const uint64_t *initial, uint64_t *value)
{
	struct machine m = { .s = s, .expr = expr, .len = len };
	unsigned int steps = 0;

	if (initial)
		push(&m, *initial);
	while (m.pos < m.len)
		if (++steps > STEPS || !step(&m) || m.bad)
			return false;
	*value = pop(&m);
	return !m.bad;
}

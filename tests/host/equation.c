// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
#include <string.h>
#include "equation.h"

#define STATES	16

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

unsigned int eq_place(uint64_t number, unsigned int word)
{
	/* psABI i386, figure 2.14: eax ecx edx ebx esp ebp esi edi, return address;
	 * esi and edi are preserved by calls, as r12 and r13 are.
	 */
	static const unsigned int i386[] = { 0, 2, 1, 3, 7, 6, 12, 13, 16 };

	if (word == 8)
		return number < EQ_REGS ? (unsigned int)number : EQ_REGS;
	return number < 9 ? i386[number] : EQ_REGS;
}

uint64_t eq_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return mix(*state);
}

uint64_t eq_memory(const struct eq_state *s, uint64_t addr, unsigned int size)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < size; i++) {
		uint64_t word = mix((addr + i) >> 3 ^ s->seed);
		uint64_t byte = word >> 8 * ((addr + i) & 7) & 0xff;

		value |= byte << 8 * i;
	}
	return value;
}

static uint64_t narrow(const struct eq_state *s, uint64_t value)
{
	return s->word == 8 ? value : (uint32_t)value;
}

bool eq_value(const struct eq_state *s, const struct equation *e,
	      unsigned int reg, uint64_t cfa, uint64_t *value)
{
	switch (e->kind) {
	case EQ_UNSPECIFIED:
		/* psABI: rsp is the CFA in the frame below. */
		*value = reg == EQ_SP ? cfa : s->regs[reg];
		return true;
	case EQ_SAME:
		*value = s->regs[reg];
		return true;
	case EQ_OFFSET:
		*value = eq_memory(s, narrow(s, cfa + (uint64_t)e->n), s->word);
		return true;
	case EQ_VAL_OFFSET:
		*value = narrow(s, cfa + (uint64_t)e->n);
		return true;
	case EQ_REGISTER:
		*value = narrow(s, s->regs[e->reg] + (uint64_t)e->n);
		return true;
	case EQ_MEM:
		*value = eq_memory(s, narrow(s, s->regs[e->reg] + (uint64_t)e->n),
				   s->word);
		*value = narrow(s, *value + e->arg);
		return true;
	case EQ_EXPR:
	case EQ_VAL_EXPR:
		if (!eq_expr(s, e->expr, e->len, reg == EQ_REGS ? NULL : &cfa,
			     value))
			return false;
		if (e->kind == EQ_EXPR)
			*value = eq_memory(s, *value, s->word);
		return true;
	case EQ_UNDEFINED:
	case EQ_OTHER:
		break;
	}
	return false;
}

bool eq_is_callee_saved(unsigned int reg)
{
	return reg == 3 || reg == EQ_BP || (reg >= 12 && reg <= 15);
}

static bool unchanged(const struct equation *e)
{
	return e->kind == EQ_UNSPECIFIED || e->kind == EQ_SAME;
}

static bool literally_same(const struct equation *a, const struct equation *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case EQ_UNSPECIFIED:
	case EQ_UNDEFINED:
	case EQ_SAME:
		return true;
	case EQ_OFFSET:
	case EQ_VAL_OFFSET:
		return a->n == b->n;
	case EQ_REGISTER:
	case EQ_MEM:
	case EQ_OTHER:
		return a->reg == b->reg && a->n == b->n && a->arg == b->arg;
	case EQ_EXPR:
	case EQ_VAL_EXPR:
		return a->len == b->len && !memcmp(a->expr, b->expr, a->len);
	}
	return false;
}

static bool row_value(const struct eq_state *s, const struct eq_row *row,
		      unsigned int reg, uint64_t *value)
{
	uint64_t cfa = 0;
	bool ok = eq_value(s, &row->cfa, EQ_REGS, 0, &cfa);

	*value = cfa;
	if (reg == EQ_REGS || !ok)
		return ok;
	return eq_value(s, &row->regs[reg], reg, cfa, value);
}

bool eq_same(const struct eq_row *a, const struct eq_row *b, unsigned int reg)
{
	const struct equation *ea = reg == EQ_REGS ? &a->cfa : &a->regs[reg];
	const struct equation *eb = reg == EQ_REGS ? &b->cfa : &b->regs[reg];
	uint64_t random = 0x6b756e77696e64ULL;
	unsigned int i, r;

	if (literally_same(ea, eb) ||
	    (reg < EQ_REGS && reg != EQ_SP && unchanged(ea) && unchanged(eb)))
		return true;
	if ((ea->kind == EQ_UNDEFINED) != (eb->kind == EQ_UNDEFINED))
		return false;
	for (i = 0; i < STATES; i++) {
		struct eq_state s = {
			.seed = eq_random(&random), .word = a->word,
		};
		uint64_t va, vb;
		bool ok;

		for (r = 0; r < EQ_REGS; r++)
			s.regs[r] = narrow(&s, eq_random(&random));
		/* What a PLT entry's expression looks at is the low bits. */
		s.regs[EQ_RA] = (s.regs[EQ_RA] & ~15ULL) | i;
		ok = row_value(&s, a, reg, &va);
		if (ok != row_value(&s, b, reg, &vb) || (ok && va != vb))
			return false;
	}
	return true;
}

const char *eq_reg_name(unsigned int reg)
{
	static const char *const names[] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
		"r9", "r10", "r11", "r12", "r13", "r14", "r15", "RA", "CFA",
	};

	return reg <= EQ_REGS ? names[reg] : "?";
}

void eq_print(const struct equation *e, char *text, unsigned int size)
{
	static const char *const kinds[] = {
		[EQ_UNSPECIFIED] = "unspecified", [EQ_UNDEFINED] = "undefined",
		[EQ_SAME] = "same", [EQ_OFFSET] = "offset",
		[EQ_VAL_OFFSET] = "val_offset", [EQ_REGISTER] = "register",
		[EQ_EXPR] = "expression", [EQ_VAL_EXPR] = "val_expression",
		[EQ_MEM] = "mem",
		[EQ_OTHER] = "register beyond 16:",
	};
	unsigned int used;
	uint64_t i;

	used = (unsigned int)snprintf(text, size, "%s", kinds[e->kind]);
	if (e->kind == EQ_OTHER)
		snprintf(text + used, size - used, " %u", e->reg);
	else if (e->kind == EQ_OFFSET || e->kind == EQ_VAL_OFFSET)
		snprintf(text + used, size - used, " CFA%+lld",
			 (long long)e->n);
	else if (e->kind == EQ_REGISTER)
		snprintf(text + used, size - used, " %s%+lld",
			 eq_reg_name(e->reg), (long long)e->n);
	else if (e->kind == EQ_MEM)
		snprintf(text + used, size - used, " %s%+lld, %u",
			 eq_reg_name(e->reg), (long long)e->n, e->arg);
	else if (e->kind == EQ_EXPR || e->kind == EQ_VAL_EXPR)
		for (i = 0; i < e->len && used + 4 < size; i++)
			used += (unsigned int)snprintf(text + used, size - used,
						       " %02x", e->expr[i]);
}

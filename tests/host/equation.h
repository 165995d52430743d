/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rules of one row as equations, and what they evaluate to. Written from
 * the DWARF standard (5, sections 2.5 and 6.4.1) without a look at core/, to
 * judge it.
 */
#ifndef HOST_EQUATION_H
#define HOST_EQUATION_H

#include <stdbool.h>
#include <stdint.h>

#define EQ_REGS		17	/* psABI x86-64: 16 is the return address */
#define EQ_BP		6
#define EQ_SP		7
#define EQ_RA		16

enum eq_kind {
	EQ_UNSPECIFIED,	/* no instruction named the register */
	EQ_UNDEFINED,
	EQ_SAME,
	EQ_OFFSET,	/* at CFA+n */
	EQ_VAL_OFFSET,	/* CFA+n */
	EQ_REGISTER,	/* reg+n; DWARF has n in a CFA only */
	EQ_EXPR,	/* at the value of the expression */
	EQ_VAL_EXPR,	/* the value of the expression */
	EQ_MEM,		/* what a table has for some expressions: mem[reg+n]+arg */
	EQ_OTHER,	/* names a register that is not one of EQ_REGS */
};

struct equation {
	enum eq_kind kind;
	unsigned int reg;
	int64_t n;
	unsigned int arg;
	const uint8_t *expr;
	uint64_t len;
};

/*
 * @signal: the CIE's augmentation has an "S"; @word: bytes of a register, 8, or 4 of
 * i386, whose registers are where eq_place() says
 */
struct eq_row {
	struct equation cfa;
	struct equation regs[EQ_REGS];
	bool signal;
	unsigned int word;
};

/* A made-up machine: every byte of its memory is a function of @seed. */
struct eq_state {
	uint64_t regs[EQ_REGS];
	uint64_t seed;
	unsigned int word;
};

/* Return: which of EQ_REGS a register's DWARF number means; EQ_REGS if none. */
unsigned int eq_place(uint64_t number, unsigned int word);

uint64_t eq_random(uint64_t *state);
uint64_t eq_memory(const struct eq_state *s, uint64_t addr, unsigned int size);

/* Return: whether the expression has a value. */
bool eq_expr(const struct eq_state *s, const uint8_t *expr, uint64_t len,
	     const uint64_t *initial, uint64_t *value);

/* Return: whether the equation has a value; @reg: whose it is, EQ_REGS: the CFA's. */
bool eq_value(const struct eq_state *s, const struct equation *e,
	      unsigned int reg, uint64_t cfa, uint64_t *value);

bool eq_is_callee_saved(unsigned int reg);
const char *eq_reg_name(unsigned int reg);
void eq_print(const struct equation *e, char *text, unsigned int size);

/*
 * Do two rules say the same of a register? If they are not written the same
 * way both are evaluated for several random machines.
 */
bool eq_same(const struct eq_row *a, const struct eq_row *b, unsigned int reg);

#endif /* HOST_EQUATION_H */

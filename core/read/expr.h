/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* DWARF expressions, as far as they are legal in CFI (DWARF 5 2.5, 6.4.2). */
#ifndef KUW_EXPR_H
#define KUW_EXPR_H

#include "cursor.h"
#include "rule.h"

/* What an expression can name. */
struct kuw_expr_regs {
	u64 r[KUW_NR_REGS];	/* by DWARF number; [KUW_RA] is the frame's own ip */
	u32 known;		/* bit n: r[n] has a value */
	bool unknown;		/* out: the expression named a register that has no value */
	u32 steps;		/* how many more operators this walk may evaluate */
	u32 word;		/* bytes of a word, and of a register: 8, or 4 for i386 */
};

/*
 * Recognise an expression that a loc can say without one: KUW_REG (reg + off) or KUW_MEM. Return:
 * whether it is one; if not, @loc is unchanged.
 */
bool kuw_expr_simplify(const u8 *bytes, u32 len, u32 word, struct kuw_loc *loc);

/* Return: whether each operator is known, legal in CFI and has its operands. */
bool kuw_expr_check(const u8 *bytes, u32 len, u32 word);

/*
 * Read @size bytes of user memory, 1 to 8, at any address. @value is zero-extended. Return: whether
 * they could be read.
 */
bool kuw_read_user(u64 addr, u64 size, u64 *value);

/*
 * Evaluate an expression. @initial is pushed first, unless it is NULL. Return: 0 and @value, or the
 * stop reason.
 */
u32 kuw_expr_eval(const u8 *bytes, u32 len, struct kuw_expr_regs *regs,
		  const u64 *initial, u64 *value);

#endif /* KUW_EXPR_H */

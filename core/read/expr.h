/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* DWARF expressions, as far as they are legal in CFI (DWARF 5 2.5, 6.4.2). */
#ifndef KUW_EXPR_H
#define KUW_EXPR_H

#include "cursor.h"
#include "rule.h"

/**
 * struct kuw_expr_regs - what an expression can name
 * @r: registers by DWARF number; [KUW_RA] is the frame's own ip
 * @known: bit n: r[n] has a value
 * @unknown: out: the expression named a register that has no value
 * @steps: how many more operators this walk may evaluate
 * @word: bytes of a word: 8, or 4 for an i386 program, whose registers have 32 bits
 */
struct kuw_expr_regs {
	u64 r[KUW_NR_REGS];
	u32 known;
	bool unknown;
	u32 steps;
	u32 word;
};

/**
 * kuw_expr_simplify() - recognise expressions that a loc can say without one
 * @bytes: the expression
 * @len: its bytes
 * @word: bytes of a word
 * @loc: out: how the value is found: KUW_REG (reg + off) or KUW_MEM
 *
 * Return: whether the expression has one of these forms; if not, @loc is unchanged.
 */
bool kuw_expr_simplify(const u8 *bytes, u32 len, u32 word, struct kuw_loc *loc);

/**
 * kuw_expr_check() - whether an expression can be evaluated at all
 * @bytes: the expression
 * @len: its bytes
 * @word: bytes of a word
 *
 * Return: whether each operator is known, legal in CFI and has its operands.
 */
bool kuw_expr_check(const u8 *bytes, u32 len, u32 word);

/**
 * kuw_read_user() - read bytes of user memory at any address
 * @addr: where
 * @size: how many, 1 to 8
 * @value: the answer, zero-extended
 *
 * Return: whether they could be read.
 */
bool kuw_read_user(u64 addr, u64 size, u64 *value);

/**
 * kuw_expr_eval() - evaluate an expression
 * @bytes: the expression
 * @len: its bytes
 * @regs: what it can name
 * @initial: the value to push first, or NULL to start with an empty stack
 * @value: the answer
 *
 * Return: 0 if there is a value, else the stop reason.
 */
u32 kuw_expr_eval(const u8 *bytes, u32 len, struct kuw_expr_regs *regs,
		  const u64 *initial, u64 *value);

#endif /* KUW_EXPR_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* CFA programs (DWARF 5 6.4.2): from instructions to rows. */
#ifndef KUW_CFI_H
#define KUW_CFI_H

#include "frame.h"
#include "rule.h"

/**
 * struct kuw_cfi - the state of a CFA program
 * @cfa: the CFA's rule; KUW_UNDEF until one is defined
 * @reg: the registers' rules
 * @sum: of the registers' rules, each multiplied by kuw_loc_factor(): kept up to
 *	date with each change, so that a row's rules are found by hash at once
 * @cfa_off: the last offset that an instruction gave, be it in force or not
 * @cfa_expr: an instruction gave an expression, whatever @cfa made of it
 * @regs_changed: since the last row
 * @cfa_changed: since the last row
 */
struct kuw_cfi {
	struct kuw_loc cfa;
	struct kuw_loc reg[KUW_NR_REGS];
	u64 sum;
	s32 cfa_off;
	bool cfa_expr;
	bool regs_changed;
	bool cfa_changed;
};

struct kuw_compile;

static inline u64 kuw_loc_bits(const struct kuw_loc *loc)
{
	u64 bits;

	memcpy(&bits, loc, sizeof(bits));
	return bits;
}

/* Odd and far apart: powers of the golden ratio's multiplier. */
static inline u64 kuw_loc_factor(u32 reg)
{
	return 0x9e3779b97f4a7c15ULL * (2 * reg + 1);
}

/* The state before a CIE's initial instructions (psABI: what is not said). */
void kuw_cfi_init(struct kuw_cfi *cfi);

/**
 * kuw_cfi_run() - run a program
 * @c: takes rows (kuw_compile_row()), expressions and remembered states
 * @cfi: the state; at the end: that of the last row
 * @initial: what DW_CFA_restore restores; NULL while a CIE's own program runs,
 *	which makes no rows
 * @cie: the CIE
 * @instrs: the program
 * @loc: where the first row begins, as an offset from the table's base
 * @end: where the FDE ends
 *
 * Return: 0; -EINVAL if the program is damaged; -ENOSYS if it says what a
 *	table cannot; -ENOSPC if an area must grow: c->grow says which.
 */
int kuw_cfi_run(struct kuw_compile *c, struct kuw_cfi *cfi,
		const struct kuw_cfi *initial, const struct kuw_cie *cie,
		struct kuw_cur instrs, u64 loc, u64 end);

#endif /* KUW_CFI_H */

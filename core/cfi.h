/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* CFA programs (DWARF 5 6.4.2): from instructions to rows. */
#ifndef KUW_CFI_H
#define KUW_CFI_H

#include "frame.h"
#include "rule.h"

struct kuw_compile;

/**
 * struct kuw_cfi - the state of a CFA program
 * @cfa: the CFA's rule (kuw_loc_pack()); KUW_UNDEF until one is defined
 * @regs: the registers' rules, by their number among the distinct ones
 * @cfa_off: the last offset that an instruction gave, even if it is not in force
 * @cfa_expr: an instruction gave an expression; @cfa may have a simpler form of it
 */
struct kuw_cfi {
	u64 cfa;
	u32 regs;
	s32 cfa_off;
	bool cfa_expr;
};

/**
 * kuw_cfi_run() - run a program
 * @c: takes rows (kuw_compile_append()), expressions and remembered states
 * @cfi: the state, before and after the program
 * @initial: the state that DW_CFA_restore restores; NULL while a CIE's own program runs,
 *	which makes no rows
 * @cie: the CIE
 * @instrs: the program
 * @loc: where the first row starts, as an offset from the table's base
 * @end: where the FDE ends
 *
 * Return: 0; -EINVAL if the program is damaged; -EOPNOTSUPP if a table cannot express
 *	it; -ENOSPC if an area must grow: c->grow says which; -E2BIG beyond a limit.
 */
int kuw_cfi_run(struct kuw_compile *c, struct kuw_cfi *cfi,
		const struct kuw_cfi *initial, const struct kuw_cie *cie,
		struct kuw_cur instrs, u64 loc, u64 end);

#endif /* KUW_CFI_H */

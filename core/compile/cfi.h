/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* CFA programs (DWARF 5 6.4.2): from instructions to rows. */
#ifndef KUW_CFI_H
#define KUW_CFI_H

#include "found.h"
#include "frame.h"
#include "intern.h"

/* The state of a CFA program. */
struct kuw_cfi {
	struct kuw_loc cfa;	/* KUW_UNDEF until one is defined */
	u32 regs;	/* the registers' rules, by the number of their set */
	s32 cfa_off;	/* the last offset that an instruction gave, even if it is not in force */
	bool cfa_expr;	/* an instruction gave an expression; @cfa may have a simpler form of it */
};

/* What the programs of a section need. */
struct kuw_cfi_run {
	const struct kuw_section *section;
	u64 base;			/* the file address of the table's base */
	struct kuw_intern *intern;	/* takes rules and expressions */
	struct kuw_found *found;	/* takes rows */
};

/*
 * Run a CIE's own program, which makes no rows. @cfi is the state after it, with which the
 * programs of its FDEs start. Return: as kuw_cfi_fde().
 */
int kuw_cfi_cie(const struct kuw_cfi_run *run, const struct kuw_cie *cie,
		struct kuw_cfi *cfi);

/*
 * Run an FDE's program, from @initial, the state after its CIE's. @start and @end are offsets from
 * the table's base; no row starts at @end or later. Return: 0; -EINVAL if the program is damaged;
 * -EOPNOTSUPP if a table cannot express it; -E2BIG beyond a limit; an error of the caller's
 * functions.
 */
int kuw_cfi_fde(const struct kuw_cfi_run *run, const struct kuw_cie *cie,
		const struct kuw_cfi *initial, struct kuw_cur instrs, u64 start, u64 end);

#endif /* KUW_CFI_H */

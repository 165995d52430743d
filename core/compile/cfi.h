/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* CFA programs (DWARF 5 6.4.2): from instructions to rows. */
#ifndef KUW_CFI_H
#define KUW_CFI_H

#include "found.h"
#include "frame.h"
#include "intern.h"

/**
 * struct kuw_cfi - the state of a CFA program
 * @cfa: the CFA's rule (kuw_loc_pack()); KUW_UNDEF until one is defined
 * @regs: the registers' rules, by the number of their set
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
 * struct kuw_cfi_run - what programs of a section need
 * @section: .eh_frame, which the programs are in
 * @base: the file address of the table's base
 * @intern: takes rules and expressions
 * @found: takes rows
 */
struct kuw_cfi_run {
	const struct kuw_section *section;
	u64 base;
	struct kuw_intern *intern;
	struct kuw_found *found;
};

/**
 * kuw_cfi_cie() - run a CIE's own program, which makes no rows
 * @run: see there
 * @cie: the CIE
 * @cfi: out: the state after the program, with which the programs of FDEs start
 *
 * Return: as kuw_cfi_fde().
 */
int kuw_cfi_cie(const struct kuw_cfi_run *run, const struct kuw_cie *cie,
		struct kuw_cfi *cfi);

/**
 * kuw_cfi_fde() - run an FDE's program
 * @run: see there
 * @cie: the FDE's CIE
 * @initial: the state after the CIE's program
 * @instrs: the program
 * @start: where the FDE starts, as an offset from the table's base
 * @end: where it ends; no row starts there or later
 *
 * Return: 0; -EINVAL if the program is damaged; -EOPNOTSUPP if a table cannot express
 *	it; -ENOSPC if an area must grow; -E2BIG beyond a limit.
 */
int kuw_cfi_fde(const struct kuw_cfi_run *run, const struct kuw_cie *cie,
		const struct kuw_cfi *initial, struct kuw_cur instrs, u64 start, u64 end);

#endif /* KUW_CFI_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The machine that runs CFA programs: of cfi.c, which has every instruction, and of
 * usual.c, which has a second body for those that nearly all programs consist of, with
 * the state in registers. Nobody else includes it.
 */
#ifndef KUW_MACHINE_H
#define KUW_MACHINE_H

#include "cfi.h"
#include "compile.h"

enum {
	DW_CFA_nop, DW_CFA_set_loc, DW_CFA_advance_loc1, DW_CFA_advance_loc2,
	DW_CFA_advance_loc4, DW_CFA_offset_extended, DW_CFA_restore_extended,
	DW_CFA_undefined, DW_CFA_same_value, DW_CFA_register,
	DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_def_cfa,
	DW_CFA_def_cfa_register, DW_CFA_def_cfa_offset,
	DW_CFA_def_cfa_expression, DW_CFA_expression,
	DW_CFA_offset_extended_sf, DW_CFA_def_cfa_sf, DW_CFA_def_cfa_offset_sf,
	DW_CFA_val_offset, DW_CFA_val_offset_sf, DW_CFA_val_expression,
	DW_CFA_MIPS_advance_loc8 = 0x1d,
	DW_CFA_GNU_window_save = 0x2d, DW_CFA_GNU_args_size,
	DW_CFA_GNU_negative_offset_extended,
	DW_CFA_advance_loc = 0x40, DW_CFA_offset = 0x80, DW_CFA_restore = 0xc0,
};

/**
 * struct kuw_machine - one run
 * @c: takes rows, expressions and remembered states
 * @cfi: the state
 * @initial: what DW_CFA_restore restores; NULL while a CIE's own program runs
 * @cie: the CIE
 * @in: the instructions that are left
 * @words_end: words are read whole up to here
 * @loc: where the row begins that is being made, an offset from the table's base
 * @end: where the FDE ends
 * @nr_states: how many states are remembered
 * @absolute: an instruction named an address
 * @err: the first error
 */
struct kuw_machine {
	struct kuw_compile *c;
	struct kuw_cfi *cfi;
	const struct kuw_cfi *initial;
	const struct kuw_cie *cie;
	struct kuw_cur in;
	const u8 *words_end;
	u64 loc;
	u64 end;
	u32 nr_states;
	bool absolute;
	int err;
};

/* Return: whether the CFA is a register and an offset, and nothing is hidden. */
static inline bool kuw_usual_cfa(const struct kuw_cfi *cfi)
{
	return kuw_loc_how(cfi->cfa) == KUW_REG && !cfi->cfa_expr;
}

/**
 * kuw_usual_ops() - run the usual instructions up to the first that is not
 * @m: an FDE's program, of an ABI's usual alignments (kuw_cfi_run()), whose CFA is
 *	a register and an offset, before the FDE's end; nothing has failed
 *
 * What fails, or is not in the form that compilers write, is left where it was.
 *
 * Return: whether the program has ended, and its last row with it.
 */
bool kuw_usual_ops(struct kuw_machine *m);

#endif /* KUW_MACHINE_H */

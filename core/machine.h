/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Two machines run CFA programs. That of cfi.c has every instruction. That of usual.c has
 * only the instructions of nearly all programs, and keeps its state in registers. Only these
 * two files and scan.c include this one.
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
 * struct kuw_machine - one run of a program
 * @c: takes rows, expressions and remembered states
 * @cfi: the state
 * @initial: the state that DW_CFA_restore restores; NULL while a CIE's own program runs
 * @cie: the CIE
 * @in: the remaining instructions
 * @loc: where the current row starts, as an offset from the table's base
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
	u64 loc;
	u64 end;
	u32 nr_states;
	bool absolute;
	int err;
};

/* Return: whether the CFA is a register and an offset, and was not an expression. */
static inline bool kuw_usual_cfa(const struct kuw_cfi *cfi)
{
	return kuw_loc_how(cfi->cfa) == KUW_REG && !cfi->cfa_expr;
}

/*
 * A row with a usual CFA, as one word. A loc of a register and an offset does not use its
 * target and its argument, where the set's number goes, nor the highest bit of its kind,
 * where @signal goes.
 */
static inline u64 kuw_usual_state(const struct kuw_cfi *cfi, u32 signal)
{
	return cfi->cfa | cfi->regs << 16 | signal << 7;
}

static inline void kuw_set_usual_state(struct kuw_cfi *cfi, u64 state)
{
	cfi->cfa = state & ~0xffff0080ULL;
	cfi->regs = (u32)state >> 16;
	cfi->cfa_off = state >> 32;
	cfi->cfa_expr = false;
}

/**
 * struct kuw_usual - a program of usual instructions, or the rest of one
 * @p: the next instruction
 * @end: the end of the instructions
 * @state: the current row: kuw_usual_state()
 * @left: bytes from the start of the current row to the FDE's end
 * @len: bytes from the start of the row before to the start of the current row
 * @rule: the rule of the row before, which is not written yet
 * @initial: the set of rules that DW_CFA_restore restores
 * @nr_states: how many states are remembered
 * @err: the error that ended the run, or 0
 */
struct kuw_usual {
	const u8 *p;
	const u8 *end;
	u64 state;
	u32 left;
	u32 len;
	u32 rule;
	u32 initial;
	u32 nr_states;
	int err;
};

/**
 * kuw_usual_ops() - run usual instructions, up to the first unusual one
 * @c: takes rows and remembered states
 * @u: an FDE's program, with the usual alignments (struct kuw_cie). The current row starts
 *	before the FDE's end. No row is too long for a word
 *
 * If an instruction fails without an error in @u, or is not in the form that compilers
 * write, @u->p is left at that instruction, for cfi.c.
 *
 * Return: whether the program and its last row have ended.
 */
bool kuw_usual_ops(struct kuw_compile *c, struct kuw_usual *u);

#endif /* KUW_MACHINE_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What instructions do to a frame's registers: see run.h. */
#include "run.h"

/* Note that the code stores @reg. The first time, it has still the caller's value. */
static void store(struct kuw_run *r, u64 at, u32 reg)
{
	if (!(KUW_CALLEE_SAVED & ~r->saved & ~r->changed & 1u << reg))
		return;
	r->saved |= 1u << reg;
	r->saved_at[reg] = at;
}

/* The code reads a word of the stack into @reg, if that is callee-saved. */
static void load(struct kuw_run *r, u64 at, u32 reg)
{
	const struct kuw_expr_regs *own = &r->w->regs;
	u64 value = 0;
	bool known;

	if (!(KUW_CALLEE_SAVED & 1u << reg))
		return;
	if (r->saved & 1u << reg && r->saved_at[reg] == (u32)at) {
		value = own->r[reg];
		known = own->known & 1u << reg;
	} else {
		/* Below the frame, nothing has been written yet. */
		known = at >= r->bottom && at % KUW_WORD == 0 &&
			kuw_try_word(r->w, at, &value);
	}
	kuw_run_set(r, reg, value, known);
	r->changed |= 1u << reg;
}

void kuw_run_push(struct kuw_run *r, u32 reg)
{
	r->regs->r[KUW_RSP] -= KUW_WORD;
	r->rising = false;
	if (kuw_run_knows(r, KUW_RSP))
		store(r, r->regs->r[KUW_RSP], reg);
}

void kuw_run_pop(struct kuw_run *r, u32 reg)
{
	if (kuw_run_knows(r, KUW_RSP))
		load(r, r->regs->r[KUW_RSP], reg);
	r->regs->r[KUW_RSP] += KUW_WORD;
	r->rising = KUW_CALLEE_SAVED & 1u << reg ? KUW_RUN_RESTORED : true;
}

/* Return: whether it is known where the instruction's operand in memory is, and *@at. */
static bool find_operand(const struct kuw_run *r, const struct kuw_insn *i, u64 *at)
{
	if (i->base == KUW_INSN_FS)
		*at = kuw_port_fs() + i->disp;
	else if (i->base != KUW_RA && kuw_run_knows(r, i->base))
		*at = r->regs->r[kuw_port_index(i->base, KUW_NR_REGS)] + i->disp;
	else
		return false;
	return i->memory;
}

/*
 * The code takes rsp from @base, or from memory at @disp from there: it comes back to the
 * stack that it has left, or that it had left before the call that led to this frame.
 */
static enum kuw_run_state come_back(struct kuw_run *r, u32 base, bool memory, s32 disp)
{
	u64 sp = r->left;

	if (!sp) {
		if (!r->returned || base >= KUW_NR_REGS)
			return KUW_RUN_STUCK;
		if (!kuw_run_knows(r, base)) {
			if (KUW_CALLEE_SAVED & 1u << base)
				r->w->regs.unknown = true;
			return KUW_RUN_STUCK;
		}
		sp = r->regs->r[kuw_port_index(base, KUW_NR_REGS)] + disp;
		if (memory && (sp % KUW_WORD || !kuw_try_word(r->w, sp, &sp)))
			return KUW_RUN_STUCK;
		/* Ways that were kept have the same: a branch before this has ended @returned. */
		r->bottom = sp;
	}
	r->left = 0;
	kuw_run_set(r, KUW_RSP, sp, true);
	return KUW_RUN_AT_WORK;
}

/* mov of all of the register @from to @to. */
static enum kuw_run_state copy(struct kuw_run *r, u32 to, u32 from)
{
	if (to == KUW_RSP && (from != KUW_RBP || r->returned))
		return come_back(r, from, false, 0);
	if (to == KUW_RSP)
		r->left = 0;
	if (to == KUW_RSP || (to == KUW_RBP && from == KUW_RSP))
		kuw_run_set(r, to, r->regs->r[kuw_port_index(from, KUW_NR_REGS)],
			    kuw_run_knows(r, from));
	return KUW_RUN_AT_WORK;
}

enum kuw_run_state kuw_run_compute(struct kuw_run *r, const struct kuw_insn *i)
{
	u64 *sp = &r->regs->r[KUW_RSP];

	if (i->memory || i->base != KUW_RSP)
		return KUW_RUN_AT_WORK;
	switch (i->ext) {
	case 0:
		*sp += i->imm;
		r->rising = i->imm > 0;
		return KUW_RUN_AT_WORK;
	case 4:
		*sp &= i->imm;
		return KUW_RUN_AT_WORK;
	case 5:
		*sp -= i->imm;
		r->rising = i->imm < 0;
		return KUW_RUN_AT_WORK;
	case 7:
		return KUW_RUN_AT_WORK;
	}
	return KUW_RUN_STUCK;
}

enum kuw_run_state kuw_run_move(struct kuw_run *r, const struct kuw_insn *i, bool loads)
{
	u64 at;

	if (!i->wide)
		return KUW_RUN_AT_WORK;
	if (!i->memory)
		return loads ? copy(r, i->reg, i->base) : copy(r, i->base, i->reg);
	if (loads && i->reg == KUW_RSP)
		return come_back(r, i->base, true, i->disp);
	if ((i->base == KUW_RSP || i->base == KUW_RBP) && kuw_run_knows(r, i->base)) {
		at = r->regs->r[kuw_port_index(i->base, KUW_NR_REGS)] + i->disp;
		(loads ? load : store)(r, at, i->reg);
	}
	return KUW_RUN_AT_WORK;
}

enum kuw_run_state kuw_run_lea(struct kuw_run *r, const struct kuw_insn *i)
{
	bool known = i->base != KUW_RA && kuw_run_knows(r, i->base);

	if (i->reg == KUW_RSP && i->base != KUW_RSP && i->base != KUW_RBP &&
	    kuw_run_knows(r, KUW_RSP) && !r->left)
		r->left = r->regs->r[KUW_RSP];
	if (i->reg == KUW_RSP)
		r->rising = i->base == KUW_RSP && i->disp > 0;
	if (i->reg == KUW_RSP || (i->reg == KUW_RBP && i->base == KUW_RSP))
		kuw_run_set(r, i->reg,
			    known ? r->regs->r[kuw_port_index(i->base, KUW_NR_REGS)] + i->disp : 0,
			    known);
	return KUW_RUN_AT_WORK;
}

void kuw_run_leave(struct kuw_run *r)
{
	kuw_run_set(r, KUW_RSP, r->regs->r[KUW_RBP], kuw_run_knows(r, KUW_RBP));
	kuw_run_pop(r, KUW_RBP);
}

bool kuw_run_notes(struct kuw_run *r, const struct kuw_insn *i)
{
	u64 at, value = 0;
	bool known;
	u32 reg;

	switch (i->op) {
	case 0x01:
	case 0x29:
	case 0x89:
		reg = i->base;
		if (i->memory)
			return true;
		break;
	case 0x03:
	case 0x2b:
	case 0x8b:
		reg = i->reg;
		break;
	default:
		return false;
	}
	if (reg == KUW_RSP || reg == KUW_RBP || i->base == KUW_RSP || i->base == KUW_RBP)
		return false;
	known = i->op == 0x8b && i->wide && find_operand(r, i, &at) &&
		kuw_try_word(r->w, at, &value);
	kuw_run_set(r, reg, value, known);
	return true;
}

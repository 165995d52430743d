// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Apply any rule, following all registers that are known. */
#include "apply.h"

/* An i386 program's addresses wrap. */
static u64 narrow(const struct kuw_state *w, u64 value)
{
	return likely(w->regs.word == KUW_WORD) ? value : (u32)value;
}

bool kuw_may_move(struct kuw_state *w, u64 sp, enum kuw_way how)
{
	u64 old = w->regs.r[KUW_RSP];

	if (sp > old)
		return true;
	if (how != KUW_BY_SIGNAL && sp == old)
		return w->inner;
	if (how == KUW_BY_RSP && (!w->inner || old - sp > KUW_RED_ZONE))
		return false;
	if (!w->switches)
		return false;
	w->switches--;
	return true;
}

int kuw_is_called(u64 pc)
{
	u64 ip = pc + 1, before;

	if (ip & (KUW_FDE_ALIGN - 1))
		return 1;
	if (!kuw_read_user(ip - sizeof(before), sizeof(before), &before))
		return -EFAULT;
	return kuw_may_end_with_call(before);
}

/*
 * Return: whether the stack starts with the current frame: unwind information has led to the
 * frame, a call left it, and its return address is null. No call pushes null, but runtimes with
 * fibers start stacks so (Ruby, D). libgcc, libunwind and gdb end there, too. Behind a function
 * that can return to a handler, the frame may be another one.
 */
static bool begins_with_null(const struct kuw_state *w, u64 ra)
{
	return !ra && !w->inner && !w->guessed && !w->eh_return;
}

/* Apply a frequent rule, and follow the callee-saved registers as well. */
u32 kuw_apply_full(struct kuw_state *w, const struct kuw_table *table,
		   struct kuw_rule rule)
{
	static const u8 regs[KUW_NR_SAVES] = KUW_SAVED_REGS;
	const struct kuw_saves *saves = kuw_table_at(table, table->saves_off);
	u32 i, ret, known = w->regs.known & (KUW_CALLEE_SAVED | KUW_KNOWN_FAST);
	u32 word = w->regs.word;
	bool by_rsp = kuw_rule_kind(rule) == KUW_KIND_RSP;
	u64 cfa, ra, bp = w->regs.r[KUW_RBP];
	s64 saved = kuw_rule_rbp(rule, word);

	if (!by_rsp && !(known & 1u << KUW_RBP)) {
		w->regs.unknown = true;
		return KUNWIND_STOP_REG_UNKNOWN;
	}
	cfa = narrow(w, (by_rsp ? w->regs.r[KUW_RSP] : bp) + kuw_rule_cfa(rule, word));
	if (cfa & (word - 1))
		return KUNWIND_STOP_CFA_BAD;
	if (!kuw_may_move(w, cfa, by_rsp ? KUW_BY_RSP : KUW_BY_OTHER))
		return KUNWIND_STOP_CFA_BACK;
	if (kuw_read_word(cfa - word, word, &ra) ||
	    (saved && kuw_read_word(cfa + saved, word, &bp)))
		return KUNWIND_STOP_STACK_FAULT;
	ret = kuw_step_to(w, ra, cfa, bp, known);
	if (unlikely(ret != KUW_STEPPED))
		return begins_with_null(w, ra) ? KUNWIND_STOP_COMPLETE : ret;
	saves += kuw_rule_saves(rule);
	for (i = 0; i < KUW_NR_SAVES; i++) {
		if (!saves->word[i])
			continue;
		known |= 1u << regs[i];
		if (!kuw_try_word(w, cfa + saves->word[i] * (s32)word,
				  &w->regs.r[regs[i]]))
			known &= ~(1u << regs[i]);
	}
	w->regs.known = known;
	return KUW_STEPPED;
}

/* Return: 0 and the value of a loc, or the stop reason. */
static u32 loc_value(struct kuw_state *w, const struct kuw_table *table,
		     const struct kuw_loc *loc, const u64 *cfa, u64 *value)
{
	u32 len, stop, word = w->regs.word;
	const u8 *expr;
	u64 reg = 0;

	if (loc->how == KUW_REG || loc->how == KUW_MEM) {
		if (!(w->regs.known & 1u << loc->reg)) {
			w->regs.unknown = true;
			return KUNWIND_STOP_REG_UNKNOWN;
		}
		reg = narrow(w, w->regs.r[loc->reg] + loc->off);
	}
	switch (loc->how) {
	case KUW_AT_CFA:
		return kuw_read_user(narrow(w, *cfa + loc->off), word, value) ?
			0 : KUNWIND_STOP_STACK_FAULT;
	case KUW_CFA_PLUS:
		*value = narrow(w, *cfa + loc->off);
		return 0;
	case KUW_REG:
		*value = reg;
		return 0;
	case KUW_MEM:
		if (!kuw_read_user(reg, word, value))
			return KUNWIND_STOP_STACK_FAULT;
		*value = narrow(w, *value + loc->arg);
		return 0;
	case KUW_EXPR:
	case KUW_EXPR_MEM:
		expr = kuw_table_expr(table, loc, &len);
		if (!expr)
			return KUNWIND_STOP_RULE_BAD;
		stop = kuw_expr_eval(expr, len, &w->regs, cfa, value);
		if (!stop && loc->how == KUW_EXPR_MEM &&
		    !kuw_read_user(*value, word, value))
			return KUNWIND_STOP_STACK_FAULT;
		return stop;
	}
	return KUNWIND_STOP_RULE_BAD;
}

static enum kuw_way way_of(const struct kuw_ext *ext)
{
	const struct kuw_loc *cfa = &ext->locs[0];

	if (ext->signal)
		return KUW_BY_SIGNAL;
	return cfa->how == KUW_REG && cfa->reg == KUW_RSP ? KUW_BY_RSP : KUW_BY_OTHER;
}

u32 kuw_apply_ext(struct kuw_state *w, const struct kuw_table *table,
		  const struct kuw_ext *ext)
{
	u32 known = w->regs.known, i, stop;
	const struct kuw_loc *loc;
	u64 r[KUW_NR_REGS], cfa;
	bool has_ra = false, has_sp = false;
	enum kuw_way way;

	for (i = 1; i <= ext->nr_locs; i++) {
		loc = &ext->locs[i];
		has_sp |= loc->target == KUW_RSP;
		/*
		 * No call preserves rax. Functions save it that pass data to the handler of
		 * an exception (__builtin_eh_return()). In their last instructions, all
		 * saved registers are those of the handler's frame, and rsp is not.
		 */
		w->eh_return |= loc->target == KUW_RAX && !ext->signal;
	}
	stop = loc_value(w, table, &ext->locs[0], NULL, &cfa);
	if (stop)
		return stop;
	if (!ext->signal) {
		if (cfa & (w->regs.word - 1))
			return KUNWIND_STOP_CFA_BAD;
		/* A call preserves only these registers. */
		known &= KUW_CALLEE_SAVED;
	}
	/* The CFA of longjmp() is its jmp_buf: check how rsp moves, not how the CFA does. */
	way = has_sp && !ext->signal ? KUW_BY_OTHER : way_of(ext);
	if (!ext->signal && !has_sp && !kuw_may_move(w, cfa, way))
		return KUNWIND_STOP_CFA_BACK;
	memcpy(r, w->regs.r, sizeof(r));
	r[KUW_RSP] = cfa;
	known |= 1u << KUW_RSP;
	for (i = 1; i <= ext->nr_locs; i++) {
		loc = &ext->locs[i];
		known &= ~(1u << loc->target);
		if (loc->how == KUW_UNDEF)
			continue;
		stop = loc_value(w, table, loc, &cfa, &r[loc->target]);
		/* The walk can continue without most registers. */
		if (!stop)
			known |= 1u << loc->target;
		else if (loc->target == KUW_RA || loc->target == KUW_RSP ||
			 stop == KUNWIND_STOP_EXPR_BUDGET)
			return stop;
		w->faults += stop == KUNWIND_STOP_STACK_FAULT;
		has_ra |= loc->target == KUW_RA;
	}
	if (!has_ra && !kuw_read_user(narrow(w, cfa - w->regs.word), w->regs.word,
				      &r[KUW_RA]))
		return KUNWIND_STOP_STACK_FAULT;
	if ((ext->signal || has_sp) && !kuw_may_move(w, r[KUW_RSP], way))
		return KUNWIND_STOP_CFA_BACK;
	if (!ext->signal || !kuw_can_be_interrupted(r[KUW_RA])) {
		stop = kuw_check_ra(r[KUW_RA], KUW_PORT_USER_END);
		if (stop != KUW_STEPPED)
			return !has_ra && begins_with_null(w, r[KUW_RA]) ?
				KUNWIND_STOP_COMPLETE : stop;
	}
	memcpy(w->regs.r, r, sizeof(r));
	w->regs.known = known | 1u << KUW_RA;
	w->inner = ext->signal;
	return KUW_STEPPED;
}

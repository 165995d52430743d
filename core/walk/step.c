// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* One step: find the frame's mapping and its rule, and choose how to apply it. */
#include "step.h"
#include "budgets.h"

bool kuw_is_trampoline(const struct kuw_state *w, u64 ra)
{
	/* The byte before it may belong to another file. */
	const struct kuw_mapping *m = kuw_map_find(w->map, ra);

	return m && m->kind == KUW_MAPPING_URETPROBE;
}

void kuw_restore_ra(struct kuw_state *w)
{
	u64 ra;

	if (w->inner || !(w->regs.known & 1u << KUW_RSP) ||
	    !kuw_is_trampoline(w, w->regs.r[KUW_RA]))
		return;
	if (!kuw_port_uretprobe(w->regs.r[KUW_RSP] - w->regs.word, &ra))
		/* The kernel has looked through all that are pending: it cost as much. */
		w->faults++;
	else if (kuw_is_ra(w, ra))
		w->regs.r[KUW_RA] = ra;
}

/*
 * Return: whether @pc may be a function's first byte, by its rule: the caller has pushed the
 * return address, and nothing was saved yet. Behind a call that is rare, as functions align the
 * stack for it (psABI 3.2.2), except for calls of functions of the same file that need no stack.
 */
static bool may_begin_function(const struct kuw_state *w, const struct kuw_mapping *m, u64 pc)
{
	struct kuw_rule rule = kuw_rule_at(m, pc);

	return kuw_rule_kind(rule) == KUW_KIND_NONE ||
	       (kuw_rule_kind(rule) == KUW_KIND_RSP &&
		kuw_rule_cfa(rule, w->regs.word) == w->regs.word);
}

u32 kuw_step(struct kuw_state *w)
{
	/* Behind a call, or a system call, is perhaps another function. */
	u64 pc = w->regs.r[KUW_RA] - (!w->inner || w->syscall);
	const struct kuw_mapping *m = kuw_map_find(w->map, pc);
	struct kuw_rule rule;
	bool doubted;
	int called;
	u32 ret;

	w->regs.unknown = false;
	if (w->faults > KUW_MAX_FAULTS)
		return KUNWIND_STOP_FAULT_BUDGET;
	/* Without the stack pointer, the walk cannot check that the CFA moves up. */
	if (!(w->regs.known & 1u << KUW_RSP))
		return KUNWIND_STOP_REG_UNKNOWN;
	ret = kuw_step_pc_thunk(w);
	if (ret)
		return ret;
	if (!m)
		return kuw_step_without_rule(w, NULL, true) ?:
		       (w->map->incomplete ? KUNWIND_STOP_INCOMPLETE_MAP : KUNWIND_STOP_NO_MAPPING);
	if (!kuw_has_table(w, m))
		return kuw_step_without_rule(w, m, true) ?: KUNWIND_STOP_NO_TABLE;
	rule = kuw_rule_at(m, pc);
	called = w->inner ? 1 : kuw_is_called(m->table, kuw_text_of(m), pc, rule);
	w->faults += called < 0;
	if (!called || kuw_rule_kind(rule) == KUW_KIND_NONE)
		return kuw_step_without_rule(w, m, called) ?: KUNWIND_STOP_NO_RULE;
	/* If the code cannot be read, believe the table. It is a guess where a function begins. */
	doubted = called < 0 && may_begin_function(w, m, pc + 1);
	w->guessed |= doubted;
	if (kuw_rule_kind(rule) == KUW_KIND_END)
		return doubted ? KUNWIND_STOP_UNPROVEN : KUNWIND_STOP_COMPLETE;
	ret = kuw_apply(w, m->table, rule);
	/*
	 * The rule does not say so, but the function may have popped its return address, or its
	 * registers, and have it where the rule says otherwise.
	 */
	if (ret == KUNWIND_STOP_COMPLETE && w->inner && !kuw_begins_stack(w))
		return KUNWIND_STOP_UNPROVEN;
	return ret;
}

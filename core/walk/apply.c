// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Apply any rule, following all registers that are known. */
#include "apply.h"
#include "budgets.h"

void kuw_state_start(struct kuw_state *w, const struct kuw_port_regs *regs, u32 word)
{
	u32 i;

	kuw_port_fill_regs(regs, w->regs.r);
	w->regs.r[KUW_RA] = kuw_port_ip(regs);
	if (word != KUW_WORD) {
		w->regs.r[KUW_I386_ESI] = w->regs.r[KUW_RSI];
		w->regs.r[KUW_I386_EDI] = w->regs.r[KUW_RDI];
		for (i = 0; i < KUW_NR_REGS; i++)
			w->regs.r[i] = (u32)w->regs.r[i];
	}
	w->regs.known = KUW_KNOWN_ALL;
	w->regs.unknown = false;
	w->regs.word = word;
	w->switches = KUW_MAX_STACK_SWITCHES;
	w->inner = true;
	w->syscall = kuw_port_in_syscall(regs);
	w->moved = false;
	w->guessed = false;
	w->eh_return = false;
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

int kuw_is_called(const struct kuw_table *table, u64 text, u64 pc, struct kuw_rule rule)
{
	u32 kind = kuw_rule_kind(rule);
	u64 ip = pc + 1, before;

	if ((kind == KUW_KIND_FULL || kind == KUW_KIND_END) &&
	    kuw_table_full(table, rule)->kind == KUW_RULES_SIGNAL)
		return 1;
	/* A call has two bytes at least. */
	if (kind == KUW_KIND_END && kuw_table_starts(table, pc - text))
		return 0;
	if ((ip - text) % KUW_FDE_ALIGN && !kuw_table_starts(table, ip - text))
		return 1;
	if (!kuw_read_user(ip - sizeof(before), sizeof(before), &before))
		return -EFAULT;
	return kuw_may_end_with_call(before);
}

/*
 * Whether the stack starts with the current frame, whose caller would have the registers @r, of
 * which @known are known, and whose return address, below the CFA, is none.
 *
 * It is argc, the process's first word, in start code whose unwind information is that of a
 * function that was called: glibc's _start at its endbr64, and a _start in C.
 *
 * Or unwind information has led to the frame, a call left it, and its return address is null, as
 * are the registers that the frame must give back. No call pushes null, but runtimes with fibers
 * start stacks so (Ruby, D), at the end of a page. Where unwind information is wrong, as in
 * LuaJIT's exits from traces, the null is a variable, and some of these registers are not null.
 * Where a function has written zeros beyond a variable, they are, but the frame is anywhere.
 * Behind a function that can return to a handler, the frame may be another one.
 *
 * Return: KUNWIND_STOP_COMPLETE; KUNWIND_STOP_INCOMPLETE_MAP if code may be at argc;
 * KUNWIND_STOP_RA_BAD.
 */
static u32 stop_at_start(struct kuw_state *w, u64 cfa, const u64 *r, u32 known)
{
	u32 zero = w->regs.word == KUW_WORD ? KUW_FIBER_ZERO : KUW_I386_FIBER_ZERO, i;

	if (r[KUW_RA] < KUW_LEAST_ADDRESS && cfa - w->regs.word == kuw_port_stack_start())
		return w->map->incomplete ? KUNWIND_STOP_INCOMPLETE_MAP : KUNWIND_STOP_COMPLETE;
	if (r[KUW_RA] || w->inner || w->guessed || w->eh_return || cfa % KUW_PAGE)
		return KUNWIND_STOP_RA_BAD;
	w->regs.unknown = zero & ~known;
	if (w->regs.unknown)
		return KUNWIND_STOP_RA_BAD;
	for (i = 0; i < KUW_NR_REGS; i++)
		if (zero & 1u << i && r[i])
			return KUNWIND_STOP_RA_BAD;
	return KUNWIND_STOP_COMPLETE;
}

/* Return: 0 and the value of a loc, or the stop reason. */
static u32 loc_value(struct kuw_state *w, const struct kuw_table *table,
		     const struct kuw_loc *loc, const u64 *cfa, u64 *value)
{
	u32 len, stop;
	const u8 *expr;
	u64 at;

	switch (loc->how) {
	case KUW_AT_CFA:
	case KUW_CFA_PLUS:
		at = *cfa + loc->off;
		break;
	case KUW_REG:
	case KUW_MEM:
		if (!(w->regs.known & 1u << loc->reg)) {
			w->regs.unknown = true;
			return KUNWIND_STOP_REG_UNKNOWN;
		}
		/* That this is a rule may have been mispredicted. */
		at = w->regs.r[kuw_port_index(loc->reg, KUW_NR_REGS)] + loc->off;
		break;
	case KUW_EXPR:
	case KUW_EXPR_MEM:
		expr = kuw_table_expr(table, loc, &len);
		stop = kuw_expr_eval(expr, len, &w->regs, cfa, &at);
		if (stop)
			return stop;
		break;
	default:
		return KUNWIND_STOP_RULE_BAD;
	}
	if ((loc->how == KUW_AT_CFA || loc->how == KUW_MEM || loc->how == KUW_EXPR_MEM) &&
	    !kuw_read_user(kuw_narrow(w->regs.word, at), w->regs.word, &at))
		return KUNWIND_STOP_STACK_FAULT;
	*value = kuw_narrow(w->regs.word, at + loc->arg);
	return 0;
}

static enum kuw_way way_of(const struct kuw_rules *rules)
{
	if (rules->kind == KUW_RULES_SIGNAL)
		return KUW_BY_SIGNAL;
	return rules->cfa.how == KUW_REG && rules->cfa.reg == KUW_RSP &&
	       rules->reg[KUW_RSP].how == KUW_SAME ? KUW_BY_RSP : KUW_BY_OTHER;
}

/* Return: whether the return address is where a call has pushed it. */
static bool is_pushed(const struct kuw_state *w, const struct kuw_loc *ra)
{
	return ra->how == KUW_AT_CFA && ra->off == -(s32)w->regs.word;
}

/*
 * Whether the frame's function has given register @i back, though its rule says that it is in
 * memory at rbp. So it is at the end of GCC's functions that realign rsp (DRAP): from their pop of
 * rbp on, that is the caller's. No function saves a register above its CFA.
 */
static bool is_given_back(const struct kuw_state *w, u32 i, const struct kuw_loc *loc, u64 cfa)
{
	return w->inner && KUW_CALLEE_SAVED & 1u << i && loc->how == KUW_MEM &&
	       loc->reg == KUW_RBP && w->regs.known & 1u << KUW_RBP &&
	       cfa >= w->regs.r[KUW_RSP] && w->regs.r[KUW_RBP] + loc->off >= cfa;
}

u32 kuw_apply(struct kuw_state *w, const struct kuw_table *table, struct kuw_rule rule)
{
	u32 known = w->regs.known, i, stop;
	u64 r[KUW_NR_REGS], cfa;
	struct kuw_rules rules;
	bool signal, has_sp;
	enum kuw_way way;

	kuw_table_expand(table, rule, &rules);
	signal = rules.kind == KUW_RULES_SIGNAL;
	has_sp = rules.reg[KUW_RSP].how != KUW_SAME;
	way = way_of(&rules);
	/*
	 * No call preserves rax. Functions save it that pass data to the handler of an
	 * exception (__builtin_eh_return()). In their last instructions, all saved registers
	 * are those of the handler's frame, and rsp is not.
	 */
	w->eh_return |= rules.reg[KUW_RAX].how != KUW_SAME && !signal;
	stop = loc_value(w, table, &rules.cfa, NULL, &cfa);
	if (stop)
		return stop;
	if (!signal) {
		if (cfa & (w->regs.word - 1))
			return KUNWIND_STOP_CFA_BAD;
		/* A call preserves only these registers. */
		known &= KUW_CALLEE_SAVED;
	}
	/* The CFA of longjmp() is its jmp_buf: check how rsp moves, not how the CFA does. */
	if (!signal && !has_sp && !kuw_may_move(w, cfa, way))
		return KUNWIND_STOP_CFA_BACK;
	memcpy(r, w->regs.r, sizeof(r));
	r[KUW_RSP] = cfa;
	known |= 1u << KUW_RSP;
	/* The return address first: without it, no other register is worth a page fault. */
	for (i = KUW_NR_REGS; i--;) {
		if (rules.reg[i].how == KUW_SAME || is_given_back(w, i, &rules.reg[i], cfa))
			continue;
		known &= ~(1u << i);
		if (rules.reg[i].how == KUW_UNDEF)
			continue;
		stop = loc_value(w, table, &rules.reg[i], &cfa, &r[i]);
		/* The walk can continue without most registers. */
		if (!stop)
			known |= 1u << i;
		else if (i == KUW_RA || i == KUW_RSP || stop == KUNWIND_STOP_EXPR_BUDGET)
			return stop;
		w->faults += stop == KUNWIND_STOP_STACK_FAULT;
	}
	if ((signal || has_sp) && !kuw_may_move(w, r[KUW_RSP], way))
		return KUNWIND_STOP_CFA_BACK;
	/* A signal can have interrupted a call of null. */
	if (signal ? r[KUW_RA] >= KUW_PORT_USER_END : !kuw_is_ra(w, r[KUW_RA]))
		return is_pushed(w, &rules.reg[KUW_RA]) ? stop_at_start(w, cfa, r, known) :
							  KUNWIND_STOP_RA_BAD;
	memcpy(w->regs.r, r, sizeof(r));
	w->regs.known = known | 1u << KUW_RA;
	w->inner = signal;
	return KUW_STEPPED;
}

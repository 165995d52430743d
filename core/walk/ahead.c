// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Follow a function's own code to its end: see kuw_run_ahead().
 *
 * A compiler makes each instruction of a function find the stack pointer at one distance from
 * the return address, whichever way led there. So any way to a ret gives that distance. The
 * walk does what the instructions on the way do (run.h), and ignores all else. It takes no
 * branch at first. Where a way ends without a ret, it continues with the last branch that it
 * has not taken. It comes to each branch once, and knows them by the low bits of their address.
 *
 * Where a call does not return, the way leads on into another function. Therefore a way
 * counts only if the word that its ret finds is an address that follows a call.
 *
 * Erlang's code calls C on another stack, and Go's its runtime. Behind the call it takes rsp back,
 * from a register or from memory. If it has yet to leave its stack, rsp will be what it was.
 */
#include "step.h"
#include "run.h"

bool kuw_follows_call(struct kuw_state *w, u64 ra)
{
	u64 before;

	return kuw_is_trampoline(w, ra) ||
	       (kuw_is_ra(w, ra) &&
		kuw_try_user(w, ra - sizeof(before), sizeof(before), &before) &&
		kuw_may_end_with_call(before));
}

/* Return: whether the word at rsp can be the frame's return address. */
static bool is_at_end(const struct kuw_run *r, u64 *ra)
{
	u64 sp = r->regs->r[KUW_RSP];

	return kuw_run_knows(r, KUW_RSP) && sp >= r->bottom && sp % KUW_WORD == 0 &&
	       kuw_try_word(r->w, sp, ra) && kuw_follows_call(r->w, *ra);
}

/* The frame's return address is at rsp, and @more bytes of arguments above it. */
static enum kuw_run_state finish(struct kuw_run *r, u64 more)
{
	u64 ra;

	if (more % KUW_WORD || !is_at_end(r, &ra))
		return KUW_RUN_STUCK;
	kuw_run_set(r, KUW_RA, ra, true);
	r->regs->r[KUW_RSP] += KUW_WORD + more;
	return KUW_RUN_RETURNED;
}

/* Return: how to continue later at r->ip + @by, with what is known now. */
static struct kuw_run_way way_to(const struct kuw_run *r, s64 by)
{
	return (struct kuw_run_way){
		.ip = r->ip + by,
		.sp = r->regs->r[KUW_RSP],
		.bp = r->regs->r[KUW_RBP],
		.known = r->regs->known & ~(r->changed & ~(1u << KUW_RBP)),
		.saved = r->saved,
	};
}

/* A branch by @by bytes is not taken now. Return: KUW_RUN_STUCK if the walk has been here. */
static enum kuw_run_state branch(struct kuw_run *r, s64 by)
{
	u32 i;

	r->rising = false;
	for (i = 0; i < r->nr_branches; i++)
		if (r->branches[i] == (u16)r->ip)
			return KUW_RUN_STUCK;
	if (r->nr_branches == KUW_MAX_BRANCHES)
		return KUW_RUN_STUCK;
	r->branches[r->nr_branches++] = r->ip;
	if (r->nr_ways < KUW_MAX_WAYS)
		r->ways[r->nr_ways++] = way_to(r, by);
	return KUW_RUN_AT_WORK;
}

/*
 * An indirect jump is a tail call; or a switch, where the word at rsp can be an old return
 * address. Code leaves its stack right before a tail call, or has none, or jumps by the PLT's
 * table. If it seems to be a switch, look for a ret first. Code that has called has a stack: it
 * had to align rsp.
 */
static enum kuw_run_state jump(struct kuw_run *r, bool by_table)
{
	if (r->rising || by_table)
		return finish(r, 0);
	if (!r->has_end && r->w->inner) {
		r->end = way_to(r, 0);
		r->has_end = true;
	}
	return KUW_RUN_STUCK;
}

/*
 * A direct jump is part of the way. But code that has restored registers and left its stack makes a
 * tail call: the function that it leads to saves those registers again. And a function that calls
 * itself for ever, as a server does in Erlang, has no ret: there the tail call that leaves its
 * stack is the end.
 */
static enum kuw_run_state jump_to(struct kuw_run *r, s64 by)
{
	u64 ra;

	if (r->rising == KUW_RUN_RESTORED) {
		if (finish(r, 0) == KUW_RUN_RETURNED)
			return KUW_RUN_RETURNED;
	} else if (r->rising && !r->has_end && is_at_end(r, &ra)) {
		r->end = way_to(r, 0);
		r->has_end = true;
	}
	r->ip += by;
	return KUW_RUN_AT_WORK;
}

/* ff: inc, dec, call, jmp, push. */
static enum kuw_run_state group_ff(struct kuw_run *r, const struct kuw_insn *i)
{
	switch (i->ext) {
	case 2:
		r->rising = false;
		break;
	case 4:
		return jump(r, i->memory && i->base == KUW_RA);
	case 6:
		kuw_run_push(r, KUW_RA);
		return i->narrow ? KUW_RUN_STUCK : KUW_RUN_AT_WORK;
	}
	return i->ext == 3 || i->ext == 5 || (!i->memory && i->base == KUW_RSP) ?
		KUW_RUN_STUCK : KUW_RUN_AT_WORK;
}

/* Do what the instruction does; r->ip is that of the next one. */
static enum kuw_run_state run_insn(struct kuw_run *r, const struct kuw_insn *i)
{
	/* No compiler pushes or pops less than a word. */
	const enum kuw_run_state by_word = i->narrow ? KUW_RUN_STUCK : KUW_RUN_AT_WORK;

	switch (i->op) {
	case 0x50 ... 0x57:
		kuw_run_push(r, i->reg);
		return by_word;
	case 0x58 ... 0x5f:
		kuw_run_pop(r, i->reg);
		return i->reg == KUW_RSP ? KUW_RUN_STUCK : by_word;
	case 0x68:
	case 0x6a:
	case 0x9c:
		kuw_run_push(r, KUW_RA);
		return by_word;
	case 0x8f:
	case 0x9d:
		kuw_run_pop(r, KUW_RA);
		return by_word;
	case 0x81:
	case 0x83:
		return kuw_run_compute(r, i);
	case 0x01:
	case 0x21:
	case 0x29:
		/* rsp moves by a register: alloca(). */
		if (!i->memory && i->base == KUW_RSP)
			kuw_run_set(r, KUW_RSP, 0, false);
		return KUW_RUN_AT_WORK;
	case 0x03:
	case 0x2b:
		if (i->reg == KUW_RSP)
			kuw_run_set(r, KUW_RSP, 0, false);
		return KUW_RUN_AT_WORK;
	case 0x89:
	case 0x8b:
		return kuw_run_move(r, i, i->op == 0x8b);
	case 0x8d:
		return kuw_run_lea(r, i);
	case 0x87:
		return i->reg == KUW_RSP || (!i->memory && i->base == KUW_RSP) ?
			KUW_RUN_STUCK : KUW_RUN_AT_WORK;
	case 0x94:
		return i->reg == KUW_RSP ? KUW_RUN_STUCK : KUW_RUN_AT_WORK;
	case 0xc9:
		kuw_run_leave(r);
		return by_word;
	case 0xc2:
		return finish(r, (u16)i->imm);
	case 0xc3:
		return finish(r, 0);
	case 0xe8:
		r->rising = false;
		/* A call of what follows it reads rip. */
		return i->imm ? KUW_RUN_AT_WORK : KUW_RUN_STUCK;
	case 0xe9:
	case 0xeb:
		return jump_to(r, i->imm);
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
	case 0x0f80 ... 0x0f8f:
		return branch(r, i->imm);
	case 0xff:
		return group_ff(r, i);
	}
	return KUW_RUN_AT_WORK;
}

int kuw_read_insn(struct kuw_state *w, u64 ip, struct kuw_insn *insn)
{
	struct kuw_cur c;
	u64 code[2];
	u32 have = sizeof(code);

	if (!kuw_try_user(w, ip, KUW_WORD, &code[0]))
		return -EFAULT;
	/* The next page may be missing: most instructions are shorter. */
	if (!kuw_try_user(w, ip + KUW_WORD, KUW_WORD, &code[1]))
		have = KUW_WORD;
	c = kuw_cur((const u8 *)code, have);
	return kuw_insn_decode(&c, insn) ? kuw_pos(&c, (const u8 *)code) : 0;
}

/* Decode the instruction at r->ip, go behind it, and do what it does. */
static enum kuw_run_state step(struct kuw_run *r)
{
	struct kuw_insn insn;
	enum kuw_run_state state;
	int len = kuw_read_insn(r->w, r->ip, &insn);

	if (len <= 0)
		return len ? KUW_RUN_UNREADABLE : KUW_RUN_STUCK;
	r->ip += len;
	state = run_insn(r, &insn);
	r->returned = r->returned && kuw_run_notes(r, &insn);
	return state;
}

static void continue_at(struct kuw_run *r, const struct kuw_run_way *way)
{
	*r->regs = r->w->regs;
	r->ip = way->ip;
	r->regs->r[KUW_RSP] = way->sp;
	r->regs->r[KUW_RBP] = way->bp;
	r->regs->known = way->known;
	r->changed = 0;
	r->saved = way->saved;
	r->left = 0;
	r->rising = false;
	r->returned = false;
}

static noinline bool search(struct kuw_state *w, struct kuw_expr_regs *regs,
			    struct kuw_run_way *ways)
{
	u32 most = KUW_MAX_AHEAD;
	struct kuw_run r;
	enum kuw_run_state state;

	r.w = w;
	r.regs = regs;
	r.ways = ways;
	r.nr_ways = 0;
	r.nr_branches = 0;
	r.has_end = false;
	continue_at(&r, &(struct kuw_run_way){
		.ip = w->regs.r[KUW_RA],
		.sp = w->regs.r[KUW_RSP],
		.bp = w->regs.r[KUW_RBP],
		.known = w->regs.known,
	});
	r.returned = !w->inner;
	r.bottom = w->regs.r[KUW_RSP];
	for (; most && w->insns && w->faults <= KUW_MAX_FAULTS; most--) {
		w->insns--;
		state = step(&r);
		if (state == KUW_RUN_RETURNED)
			return true;
		if (state == KUW_RUN_UNREADABLE)
			return false;
		if (state == KUW_RUN_AT_WORK)
			continue;
		if (r.nr_ways) {
			continue_at(&r, &ways[--r.nr_ways]);
		} else if (r.has_end) {
			continue_at(&r, &r.end);
			return finish(&r, 0) == KUW_RUN_RETURNED;
		} else {
			return false;
		}
	}
	return false;
}

bool kuw_run_ahead(struct kuw_state *w, struct kuw_expr_regs *regs)
{
	struct kuw_run_way ways[KUW_MAX_WAYS];

	return w->regs.word == KUW_WORD && search(w, regs, ways);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Follow a function's own code to its end: see ahead.h.
 *
 * A compiler makes each instruction of a function find the stack pointer at one distance from
 * the return address, whichever way led there. So any way to a ret gives that distance. The
 * walk does what the instructions on the way do to rsp, to rbp and to the stack's words that
 * hold callee-saved registers, and ignores all else. It takes no branch at first. Where a way
 * ends without a ret, it continues with the last branch that it has not taken. It comes to each
 * branch once.
 *
 * Where a call does not return, the way leads on into another function. Therefore a way
 * counts only if the word that its ret finds is an address that follows a call.
 *
 * Erlang's code calls C on another stack. Behind the call it takes rsp back, from a register or
 * from memory. If it has yet to leave its stack, rsp will be what it was.
 */
#include "ahead.h"
#include "arch/insn.h"
#include "budgets.h"

/* How an attempt stands. */
enum state {
	AT_WORK,
	RETURNED,	/* the registers are the caller's */
	STUCK,		/* this way leads nowhere */
	UNREADABLE,
};

/* A way that was not taken: where it leads to, and what is known there. */
struct way {
	u64 ip;
	u64 sp;
	u64 bp;
	u32 known;
	u32 saved;
};

/*
 * @regs: the registers, as far as the code ahead changes them. Other callee-saved ones are the
 *	frame's own until the code restores them
 * @changed: the callee-saved registers that the code has restored
 * @saved: the callee-saved registers that the code has stored; @saved_at: where, by number
 * @rising: the last instructions have left stack, as before a tail call
 * @returned: the instruction is the frame's next one, behind a call; or it is known which
 *	registers those between have changed
 * @bottom: the frame's rsp, in the frame's own stack
 * @left: what rsp was when the code left that stack; 0 if it has not. A way that was kept
 *	for later does not know it
 */
struct run {
	struct kuw_state *w;
	struct kuw_expr_regs *regs;
	u64 ip;
	bool returned;
	u64 bottom;
	u64 left;
	u32 changed;
	u32 saved;
	u64 saved_at[KUW_NR_SAVES];
	bool rising;
	u32 nr_ways;
	struct way *ways;
	/* A jump that is taken for a tail call if no way leads to a ret. */
	bool has_end;
	struct way end;
	/* The branches that the walk came to: low bits of their addresses. */
	u32 nr_branches;
	u16 branches[KUW_MAX_BRANCHES];
};

static bool is_known(const struct run *r, u32 reg)
{
	return reg < KUW_NR_REGS && r->regs->known & 1u << reg;
}

static void set(struct run *r, u32 reg, u64 value, bool known)
{
	r->regs->r[reg] = value;
	r->regs->known &= ~(1u << reg);
	r->regs->known |= (u32)known << reg;
}

/* Return: the place of a callee-saved register in saved_at; KUW_NR_SAVES for others. */
static u32 place_of(u32 reg)
{
	static const u8 regs[KUW_NR_SAVES] = KUW_SAVED_REGS;
	u32 i;

	for (i = 0; i < KUW_NR_SAVES && regs[i] != reg; i++)
		;
	return i;
}

/* Note that the code stores @reg. The first time, it has still the caller's value. */
static void store(struct run *r, u64 at, u32 reg)
{
	u32 i = place_of(reg);

	if (i == KUW_NR_SAVES || (r->saved | r->changed) & 1u << reg)
		return;
	r->saved |= 1u << reg;
	r->saved_at[i] = at;
}

/* The code reads a word of the stack into @reg, if that is callee-saved. */
static void load(struct run *r, u64 at, u32 reg)
{
	const struct kuw_expr_regs *own = &r->w->regs;
	u32 i = place_of(reg);
	u64 value = 0;
	bool known;

	if (i == KUW_NR_SAVES)
		return;
	if (r->saved & 1u << reg && r->saved_at[i] == at) {
		value = own->r[reg];
		known = own->known & 1u << reg;
	} else {
		/* Below the frame, nothing has been written yet. */
		known = at >= r->bottom && at % KUW_WORD == 0 &&
			kuw_try_word(r->w, at, &value);
	}
	set(r, reg, value, known);
	r->changed |= 1u << reg;
}

static void push(struct run *r, u32 reg)
{
	r->regs->r[KUW_RSP] -= KUW_WORD;
	r->rising = false;
	if (is_known(r, KUW_RSP))
		store(r, r->regs->r[KUW_RSP], reg);
}

static void pop(struct run *r, u32 reg)
{
	if (is_known(r, KUW_RSP))
		load(r, r->regs->r[KUW_RSP], reg);
	r->regs->r[KUW_RSP] += KUW_WORD;
	r->rising = true;
}

bool kuw_follows_call(struct kuw_state *w, u64 ra)
{
	u64 before;

	return kuw_check_ra(ra, KUW_PORT_USER_END) == KUW_STEPPED &&
	       kuw_try_user(w, ra - sizeof(before), sizeof(before), &before) &&
	       kuw_may_end_with_call(before);
}

/* Return: whether the word at rsp can be the frame's return address. */
static bool is_at_end(const struct run *r, u64 *ra)
{
	u64 sp = r->regs->r[KUW_RSP];

	return is_known(r, KUW_RSP) && sp >= r->bottom && sp % KUW_WORD == 0 &&
	       kuw_try_word(r->w, sp, ra) && kuw_follows_call(r->w, *ra);
}

/* The frame's return address is at rsp, and @more bytes of arguments above it. */
static enum state finish(struct run *r, u64 more)
{
	u64 ra;

	if (more % KUW_WORD || !is_at_end(r, &ra))
		return STUCK;
	set(r, KUW_RA, ra, true);
	r->regs->r[KUW_RSP] += KUW_WORD + more;
	return RETURNED;
}

/* Return: how to continue later at r->ip + @by, with what is known now. */
static struct way way_to(const struct run *r, s64 by)
{
	return (struct way){
		.ip = r->ip + by,
		.sp = r->regs->r[KUW_RSP],
		.bp = r->regs->r[KUW_RBP],
		.known = r->regs->known & ~(r->changed & ~(1u << KUW_RBP)),
		.saved = r->saved,
	};
}

/* A branch by @by bytes is not taken now. Return: STUCK if the walk has been here. */
static enum state branch(struct run *r, s64 by)
{
	u32 i;

	r->rising = false;
	for (i = 0; i < r->nr_branches; i++)
		if (r->branches[i] == (u16)r->ip)
			return STUCK;
	if (r->nr_branches == KUW_MAX_BRANCHES)
		return STUCK;
	r->branches[r->nr_branches++] = r->ip;
	if (r->nr_ways < KUW_MAX_WAYS)
		r->ways[r->nr_ways++] = way_to(r, by);
	return AT_WORK;
}

/*
 * An indirect jump is a tail call; or a switch, where the word at rsp can be an old return
 * address. Code leaves its stack right before a tail call, or has none, or jumps by the PLT's
 * table. If it seems to be a switch, look for a ret first. Code that has called has a stack: it
 * had to align rsp.
 */
static enum state jump(struct run *r, bool by_table)
{
	if (r->rising || by_table)
		return finish(r, 0);
	if (!r->has_end && r->w->inner) {
		r->end = way_to(r, 0);
		r->has_end = true;
	}
	return STUCK;
}

/*
 * A direct jump is part of the way. But a function that calls itself for ever, as a server does
 * in Erlang, has no ret: there the tail call that leaves its stack is the end.
 */
static enum state jump_to(struct run *r, s64 by)
{
	u64 ra;

	if (r->rising && !r->has_end && is_at_end(r, &ra)) {
		r->end = way_to(r, 0);
		r->has_end = true;
	}
	r->ip += by;
	return AT_WORK;
}

/* Instructions that compute rsp or rbp, or that load a callee-saved register. */
static enum state assign(struct run *r, u32 reg, u64 value, bool known)
{
	if (reg == KUW_RSP || known)
		set(r, reg, value, known);
	return AT_WORK;
}

/*
 * The code takes rsp from @base, or from memory at @disp from there: it comes back to the
 * stack that it has left, or that it had left before the call that led to this frame.
 */
static enum state come_back(struct run *r, u32 base, bool memory, s32 disp)
{
	u64 sp = r->left;

	if (!sp) {
		if (!r->returned || base >= KUW_NR_REGS || !(KUW_CALLEE_SAVED & 1u << base))
			return STUCK;
		if (!is_known(r, base)) {
			r->w->regs.unknown = true;
			return STUCK;
		}
		sp = r->regs->r[base] + disp;
		if (memory && (sp % KUW_WORD || !kuw_try_word(r->w, sp, &sp)))
			return STUCK;
		r->bottom = sp;
	}
	r->left = 0;
	return assign(r, KUW_RSP, sp, true);
}

/* mov of all of the register @from to @to. */
static enum state copy(struct run *r, u32 to, u32 from)
{
	if (to == KUW_RBP && from == KUW_RSP)
		return assign(r, KUW_RBP, r->regs->r[KUW_RSP], is_known(r, KUW_RSP));
	if (to != KUW_RSP)
		return AT_WORK;
	if (from == KUW_RBP && !r->returned) {
		r->left = 0;
		return assign(r, KUW_RSP, r->regs->r[KUW_RBP], is_known(r, KUW_RBP));
	}
	return come_back(r, from, false, 0);
}

/* add, sub or and, of a constant. */
static enum state compute(struct run *r, const struct kuw_insn *i)
{
	u64 *sp = &r->regs->r[KUW_RSP];

	if (i->memory || i->base != KUW_RSP)
		return AT_WORK;
	switch (i->ext) {
	case 0:
		*sp += i->imm;
		r->rising = i->imm > 0;
		return AT_WORK;
	case 4:
		*sp &= i->imm;
		return AT_WORK;
	case 5:
		*sp -= i->imm;
		r->rising = i->imm < 0;
		return AT_WORK;
	case 7:
		return AT_WORK;
	}
	return STUCK;
}

/* mov from a register. */
static enum state move(struct run *r, const struct kuw_insn *i)
{
	if (!i->wide)
		return AT_WORK;
	if (i->memory) {
		if ((i->base == KUW_RSP || i->base == KUW_RBP) && is_known(r, i->base))
			store(r, r->regs->r[i->base] + i->disp, i->reg);
	} else {
		return copy(r, i->base, i->reg);
	}
	return AT_WORK;
}

/* mov to a register. */
static enum state load_reg(struct run *r, const struct kuw_insn *i)
{
	if (!i->wide)
		return AT_WORK;
	if (!i->memory)
		return copy(r, i->reg, i->base);
	if (i->reg == KUW_RSP)
		return come_back(r, i->base, true, i->disp);
	if ((i->base == KUW_RSP || i->base == KUW_RBP) && is_known(r, i->base))
		load(r, r->regs->r[i->base] + i->disp, i->reg);
	return AT_WORK;
}

static enum state lea(struct run *r, const struct kuw_insn *i)
{
	bool known = i->base != KUW_RA && is_known(r, i->base);

	if (i->reg == KUW_RSP && i->base != KUW_RSP && i->base != KUW_RBP &&
	    is_known(r, KUW_RSP) && !r->left)
		r->left = r->regs->r[KUW_RSP];
	if (i->reg == KUW_RSP)
		r->rising = i->base == KUW_RSP && i->disp > 0;
	if (i->reg == KUW_RSP || (i->reg == KUW_RBP && i->base == KUW_RSP))
		return assign(r, i->reg, known ? r->regs->r[i->base] + i->disp : 0, known);
	return AT_WORK;
}

static enum state leave(struct run *r)
{
	set(r, KUW_RSP, r->regs->r[KUW_RBP], is_known(r, KUW_RBP));
	pop(r, KUW_RBP);
	return AT_WORK;
}

/* ff: inc, dec, call, jmp, push. */
static enum state group_ff(struct run *r, const struct kuw_insn *i)
{
	switch (i->ext) {
	case 4:
		return jump(r, i->memory && i->base == KUW_RA);
	case 6:
		push(r, KUW_RA);
		return AT_WORK;
	}
	return i->ext == 3 || i->ext == 5 || (!i->memory && i->base == KUW_RSP) ?
		STUCK : AT_WORK;
}

/* Do what the instruction does; r->ip is that of the next one. */
static enum state run_insn(struct run *r, const struct kuw_insn *i)
{
	switch (i->op) {
	case 0x50 ... 0x57:
		push(r, i->reg);
		return i->narrow ? STUCK : AT_WORK;
	case 0x58 ... 0x5f:
		pop(r, i->reg);
		return i->narrow || i->reg == KUW_RSP ? STUCK : AT_WORK;
	case 0x68:
	case 0x6a:
	case 0x9c:
		push(r, KUW_RA);
		return AT_WORK;
	case 0x8f:
	case 0x9d:
		pop(r, KUW_RA);
		return AT_WORK;
	case 0x81:
	case 0x83:
		return compute(r, i);
	case 0x01:
	case 0x21:
	case 0x29:
		/* rsp moves by a register: alloca(). */
		if (!i->memory && i->base == KUW_RSP)
			set(r, KUW_RSP, 0, false);
		return AT_WORK;
	case 0x03:
	case 0x2b:
		if (i->reg == KUW_RSP)
			set(r, KUW_RSP, 0, false);
		return AT_WORK;
	case 0x89:
		return move(r, i);
	case 0x8b:
		return load_reg(r, i);
	case 0x8d:
		return lea(r, i);
	case 0x87:
		return i->reg == KUW_RSP || (!i->memory && i->base == KUW_RSP) ?
			STUCK : AT_WORK;
	case 0x94:
		return i->reg == KUW_RSP ? STUCK : AT_WORK;
	case 0xc9:
		return leave(r);
	case 0xc2:
		return finish(r, (u16)i->imm);
	case 0xc3:
		return finish(r, 0);
	case 0xe8:
		r->rising = false;
		/* A call of what follows it reads rip. */
		return i->imm ? AT_WORK : STUCK;
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
	return AT_WORK;
}

/*
 * Return: whether it is known which register the instruction changes, if any; of that one
 * nothing is known then. Between a call and where it takes rsp back, Erlang's code counts what
 * the call took.
 */
static bool is_noted(struct run *r, const struct kuw_insn *i)
{
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
	set(r, reg, 0, false);
	return true;
}

/* Decode the instruction at r->ip, go behind it, and do what it does. */
static enum state step(struct run *r)
{
	struct kuw_insn insn;
	enum state state;
	struct kuw_cur c;
	u64 code[2];
	u32 have = sizeof(code);

	if (!kuw_try_user(r->w, r->ip, KUW_WORD, &code[0]))
		return UNREADABLE;
	/* The next page may be missing: most instructions are shorter. */
	if (!kuw_try_user(r->w, r->ip + KUW_WORD, KUW_WORD, &code[1]))
		have = KUW_WORD;
	c = kuw_cur((const u8 *)code, have);
	if (!kuw_insn_decode(&c, &insn))
		return STUCK;
	r->ip += kuw_pos(&c, (const u8 *)code);
	state = run_insn(r, &insn);
	r->returned = r->returned && is_noted(r, &insn);
	return state;
}

static void continue_at(struct run *r, const struct way *way)
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

static noinline bool search(struct kuw_state *w, u32 most, struct kuw_expr_regs *regs,
			    struct way *ways)
{
	struct run r;
	enum state state;

	r.w = w;
	r.regs = regs;
	r.ways = ways;
	r.nr_ways = 0;
	r.nr_branches = 0;
	r.has_end = false;
	continue_at(&r, &(struct way){
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
		if (state == RETURNED)
			return true;
		if (state == UNREADABLE)
			return false;
		if (state == AT_WORK)
			continue;
		if (r.nr_ways) {
			continue_at(&r, &ways[--r.nr_ways]);
		} else if (r.has_end) {
			continue_at(&r, &r.end);
			return finish(&r, 0) == RETURNED;
		} else {
			return false;
		}
	}
	return false;
}

bool kuw_run_ahead(struct kuw_state *w, u32 most, struct kuw_expr_regs *regs)
{
	struct way ways[KUW_MAX_WAYS];

	return w->regs.word == KUW_WORD && search(w, most, regs, ways);
}

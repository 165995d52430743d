/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the instructions of a function do to rsp, to rbp and to the words of the stack that hold
 * callee-saved registers. ahead.c decides which instructions those are.
 */
#ifndef KUW_RUN_H
#define KUW_RUN_H

#include "apply.h"
#include "arch/insn.h"
#include "budgets.h"

/* How an attempt stands. */
enum kuw_run_state {
	KUW_RUN_AT_WORK,
	KUW_RUN_RETURNED,	/* the registers are the caller's */
	KUW_RUN_STUCK,		/* this way leads nowhere */
	KUW_RUN_UNREADABLE,
};

/* See struct kuw_run. */
#define KUW_RUN_RESTORED	2

/* A way that was not taken: where it leads to, and what is known there. */
struct kuw_run_way {
	u64 ip;
	u64 sp;
	u64 bp;
	u32 known;
	u32 saved;
};

/* An attempt to follow the code. */
struct kuw_run {
	struct kuw_state *w;
	/*
	 * The registers, as far as the code ahead changes them. Other callee-saved ones are the
	 * frame's own until the code restores them.
	 */
	struct kuw_expr_regs *regs;
	u64 ip;
	/*
	 * The instruction is the frame's next one, behind a call; or it is known which registers
	 * those between have changed.
	 */
	bool returned;
	u64 bottom;		/* the frame's rsp, in the frame's own stack */
	/*
	 * What rsp was when the code left that stack; 0 if it has not. A way that was kept for
	 * later does not know it.
	 */
	u64 left;
	u32 changed;		/* the callee-saved registers that the code has restored */
	u32 saved;		/* those that the code has stored */
	u32 saved_at[KUW_NR_REGS];	/* where: low bits of the address */
	/*
	 * Whether the last instructions have left stack, as before a tail call: KUW_RUN_RESTORED if
	 * the last of them has popped a callee-saved register.
	 */
	u8 rising;
	u32 nr_ways;
	struct kuw_run_way *ways;
	/* A jump that is taken for a tail call if no way leads to a ret. */
	bool has_end;
	struct kuw_run_way end;
	/* The branches that the walk came to: low bits of their addresses. */
	u32 nr_branches;
	u16 branches[KUW_MAX_BRANCHES];
};

static inline bool kuw_run_knows(const struct kuw_run *r, u32 reg)
{
	return reg < KUW_NR_REGS && r->regs->known & 1u << reg;
}

static inline void kuw_run_set(struct kuw_run *r, u32 reg, u64 value, bool known)
{
	r->regs->r[reg] = value;
	r->regs->known &= ~(1u << reg);
	r->regs->known |= (u32)known << reg;
}

/* The code pushes or pops @reg; KUW_RA for a word that is no register's. */
void kuw_run_push(struct kuw_run *r, u32 reg);
void kuw_run_pop(struct kuw_run *r, u32 reg);

/* add, sub, and of a constant; mov, which @loads its register or stores it; lea; leave. */
enum kuw_run_state kuw_run_compute(struct kuw_run *r, const struct kuw_insn *i);
enum kuw_run_state kuw_run_move(struct kuw_run *r, const struct kuw_insn *i, bool loads);
enum kuw_run_state kuw_run_lea(struct kuw_run *r, const struct kuw_insn *i);
void kuw_run_leave(struct kuw_run *r);

/*
 * Return: whether it is known which register the instruction changes, if any. Of that one nothing
 * is known then, unless it is loaded from where a known one leads, or fs. Between a call and where
 * it takes rsp back, Erlang's code counts what the call took, and Go's finds its goroutine.
 */
bool kuw_run_notes(struct kuw_run *r, const struct kuw_insn *i);

#endif /* KUW_RUN_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * One step of a walk: its state, the checks, and what the files that step share.
 * walk.c has the loop, step.c the rules, norule.c code that has none.
 */
#ifndef KUW_STEP_H
#define KUW_STEP_H

#include "arch/i386.h"
#include "expr.h"
#include "map.h"
#include "table.h"

/* What a step returns beside a stop reason. */
#define KUW_STEPPED		(~0u)

/* The part of the state that every walk follows. */
struct kuw_frame {
	u64 ip;
	u64 sp;
	u64 bp;
};

/**
 * struct kuw_state - a walk with everything it may need
 * @map: the address map
 * @regs: all registers, and which of them are known
 * @inner: the frame was interrupted, not left by a call: its ip is the next
 *	instruction, not the one behind a call
 * @moved: a step was made: the frame is not the innermost
 * @guessed: a step so far had no rule: this frame is not proven
 * @replaced: the last step found the frame's true ip, not a frame
 * @switches: downward steps left, of whichever kind: see kuw_may_move()
 * @faults: reads so far that have failed, and did not end the walk
 */
struct kuw_state {
	const struct kuw_map *map;
	struct kuw_expr_regs regs;
	bool inner;
	bool moved;
	bool guessed;
	bool replaced;
	u32 switches;
	u32 faults;
};

#define KUW_KNOWN_FAST	(1u << KUW_RBP | 1u << KUW_RSP | 1u << KUW_RA)
#define KUW_KNOWN_ALL	((1u << KUW_NR_REGS) - 1)

/*
 * Return: 0 if a frame may have this CFA, else the stop reason. @word is that of the
 * program: 8, or 4 if it is for i386.
 */
static __always_inline u32 kuw_check_cfa(u64 cfa, u64 sp, u32 word)
{
	/* Whether it is a user address shows when the return address is read. */
	if (unlikely(cfa & (word - 1)))
		return KUNWIND_STOP_CFA_BAD;
	if (unlikely(cfa <= sp))
		return KUNWIND_STOP_CFA_BACK;
	return 0;
}

/* @user_end is KUW_PORT_USER_END. Return: KUW_STEPPED, or the stop reason. */
static __always_inline u32 kuw_check_ra(u64 ra, u64 user_end)
{
	/* Null is no user address either. */
	return unlikely(ra - 1 >= user_end - 1) ? KUNWIND_STOP_RA_BAD : KUW_STEPPED;
}

/* Make the caller the current frame. Return: KUW_STEPPED, or the stop reason. */
static __always_inline u32 kuw_commit(struct kuw_frame *f, u64 ip, u64 sp, u64 bp,
				      u64 user_end)
{
	u32 ret = kuw_check_ra(ip, user_end);

	if (unlikely(ret != KUW_STEPPED))
		return ret;
	f->ip = ip;
	f->sp = sp;
	f->bp = bp;
	return KUW_STEPPED;
}

/* Return: whether a signal can have interrupted an @ip: even a call of null. */
static inline bool kuw_can_be_interrupted(u64 ip)
{
	return ip < KUW_PORT_USER_END;
}

/* Read a word of the program. Return: whether that failed. */
static __always_inline bool kuw_read_word(u64 addr, u32 word, u64 *value)
{
	if (likely(word == KUW_WORD))
		return kuw_port_read(addr, value);
	return !kuw_read_user((u32)addr, KUW_I386_WORD, value);
}

/* The same of a read that the walk can do without. Return: whether that succeeded. */
static inline bool kuw_try_word(struct kuw_state *w, u64 addr, u64 *value)
{
	if (likely(!kuw_read_word(addr, w->regs.word, value)))
		return true;
	w->faults++;
	return false;
}

static inline bool kuw_try_user(struct kuw_state *w, u64 addr, u64 size, u64 *value)
{
	if (likely(kuw_read_user(addr, size, value)))
		return true;
	w->faults++;
	return false;
}

/* The same of x86-64, if @open between kuw_port_open() and kuw_port_close(). */
static __always_inline bool kuw_read_saved(u64 addr, u32 word, u64 user_end,
					   bool open, u64 *value)
{
	return open ? kuw_port_read_open(addr, user_end, value) :
		      kuw_read_word(addr, word, value);
}

/*
 * Read what a rule of KUW_KIND_RSP or KUW_KIND_RBP says of the caller of @f: @cfa is the
 * CFA, which is checked, @saved bytes from there to rbp, 0 if it is unchanged. @user_end
 * is KUW_PORT_USER_END, which is not for nothing in the kernel. @open: kuw_port_open()
 * was called. Return: KUW_STEPPED, or the stop reason; the return address is not checked.
 */
static __always_inline u32 kuw_read_caller(u64 cfa, s64 saved, u32 word, u64 user_end,
					   bool open, const struct kuw_frame *f,
					   struct kuw_frame *caller)
{
	caller->sp = cfa;
	caller->bp = f->bp;
	if (unlikely(kuw_read_saved(cfa - word, word, user_end, open, &caller->ip)))
		return KUNWIND_STOP_STACK_FAULT;
	if (saved && unlikely(kuw_read_saved(cfa + saved, word, user_end,
					     open, &caller->bp)))
		return KUNWIND_STOP_STACK_FAULT;
	return KUW_STEPPED;
}

/*
 * Apply such a rule: the caller is the current frame then. Return: KUW_STEPPED, or the
 * stop reason.
 */
static __always_inline u32 kuw_apply(u64 cfa, s64 saved, u32 word, struct kuw_frame *f)
{
	struct kuw_frame caller;
	u32 ret;

	ret = kuw_read_caller(cfa, saved, word, KUW_PORT_USER_END, false, f, &caller);
	if (unlikely(ret != KUW_STEPPED))
		return ret;
	return kuw_commit(f, caller.ip, caller.sp, caller.bp, KUW_PORT_USER_END);
}

static inline void kuw_load_frame(const struct kuw_state *w, struct kuw_frame *f)
{
	f->ip = w->regs.r[KUW_RA];
	f->sp = w->regs.r[KUW_RSP];
	f->bp = w->regs.r[KUW_RBP];
}

static inline void kuw_store_frame(struct kuw_state *w, const struct kuw_frame *f)
{
	w->regs.r[KUW_RA] = f->ip;
	w->regs.r[KUW_RSP] = f->sp;
	w->regs.r[KUW_RBP] = f->bp;
}

/* How a rule finds its caller's stack pointer. */
enum kuw_way {
	KUW_BY_RSP,	/* a constant from the frame's own */
	KUW_BY_OTHER,	/* by another register, or by memory */
	KUW_BY_SIGNAL,	/* a signal frame has it */
};

/*
 * Return: whether the stack pointer of the current frame's caller may be @sp. It moves up
 * with each frame, and so a walk ends. What does not move up ends as well:
 * - A function that was interrupted may have popped its return address, or may describe a
 *	call that it will make (glibc 2.19's _L_lock_*): what it needs is in the red zone
 *	(psABI 3.2.2). Such frames are the innermost, and one behind each signal frame.
 * - Other registers lead to other stacks, which lie anywhere: from a signal's handler, a
 *	coroutine, code that runs on a stack of its own. All that lead down, the red zone
 *	included, are counted (KUW_MAX_STACK_SWITCHES).
 */
bool kuw_may_move(struct kuw_state *w, u64 sp, enum kuw_way how);

/* Apply a frequent rule, and follow the callee-saved registers as well. */
u32 kuw_apply_full(struct kuw_state *w, const struct kuw_table *table,
		   struct kuw_rule rule);

/*
 * A table counts padding to the function before it, and so the byte before a
 * function's first one. No call returns there, but makecontext() and its like put
 * such an address on their stack: the rule at @pc, one below, is another function's.
 * Return: 0 if so, 1 if not, -EFAULT if what is there cannot be read.
 */
int kuw_is_called(u64 pc);

/*
 * No rule says how to go on. @m is the mapping of the frame's code, or NULL; @why
 * the reason to stop if nothing else is found. Return: KUW_STEPPED, or a reason.
 */
u32 kuw_step_without_rule(struct kuw_state *w, const struct kuw_mapping *m,
			  u32 why);

/* Return: whether the rule says that there is no return address. */
bool kuw_is_outermost(const struct kuw_ext *ext);

/* Do whatever the current frame needs. Return: KUW_STEPPED, or the stop reason. */
u32 kuw_step(struct kuw_state *w);

#endif /* KUW_STEP_H */

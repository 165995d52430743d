/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Applying a rule: the state of a walk, the checks, and the step from a frame to its caller. */
#ifndef KUW_APPLY_H
#define KUW_APPLY_H

#include "arch/arch.h"
#include "expr.h"
#include "map.h"
#include "table.h"

/* A step returns this, or a stop reason. */
#define KUW_STEPPED		(~0u)

/* The full state of a walk, on the stack of its caller. */
struct kuw_state {
	const struct kuw_map *map;
	struct kuw_expr_regs regs;
	/*
	 * The frame was interrupted, not left by a call: its ip is that of the next instruction,
	 * and not a return address.
	 */
	bool inner;
	bool syscall;		/* it is the innermost, behind the thread's current system call */
	bool moved;		/* a step was made, so the frame is not the innermost */
	bool guessed;		/* one of the steps was a guess, so this frame is not proven */
	bool eh_return;		/* passed a function that can return to a handler: kuw_apply() */
	u32 switches;		/* how many more steps may lead down: see kuw_may_move() */
	u32 faults;		/* how many reads have failed without ending the walk */
	u32 insns;		/* how many more instructions kuw_run_ahead() may follow */
};

/*
 * Make the frame of @regs the current one, the innermost: a walk starts here. @word: bytes of
 * the program's words, KUW_WORD or KUW_I386_WORD. The budgets of time stay as they are.
 */
void kuw_state_start(struct kuw_state *w, const struct kuw_port_regs *regs, u32 word);

#define KUW_KNOWN_FAST	(1u << KUW_RBP | 1u << KUW_RSP | 1u << KUW_RA)
#define KUW_KNOWN_ALL	((1u << KUW_NR_REGS) - 1)

/*
 * Return: whether a frame may have this CFA. @word is that of the program: 8, or 4 if it is for
 * i386. Reading the return address shows whether it is a user address.
 */
static __always_inline bool kuw_may_be_cfa(u64 cfa, u64 sp, u32 word)
{
	return !(cfa & (word - 1)) && cfa > sp;
}

/*
 * @user_end is KUW_PORT_USER_END. Return: whether code can be at @ra, a user address. Small numbers
 * are no addresses, as where argc is taken for a return address.
 */
static __always_inline bool kuw_may_be_ra(u64 ra, u64 user_end)
{
	return ra - KUW_LEAST_ADDRESS < user_end - KUW_LEAST_ADDRESS;
}

/* The same for any caller: code can be below that where the map has it. */
static inline bool kuw_is_ra(const struct kuw_state *w, u64 ra)
{
	return kuw_may_be_ra(ra, KUW_PORT_USER_END) ||
	       (ra < KUW_LEAST_ADDRESS && kuw_map_find(w->map, ra - 1));
}

/* Read what the walk can do without. Return: true if that succeeded. */
static inline bool kuw_try_user(struct kuw_state *w, u64 addr, u64 size, u64 *value)
{
	if (kuw_read_user(addr, size, value))
		return true;
	w->faults++;
	return false;
}

/* The same for a word of the program's. */
static inline bool kuw_try_word(struct kuw_state *w, u64 addr, u64 *value)
{
	return kuw_try_user(w, kuw_narrow(w->regs.word, addr), w->regs.word, value);
}

/* Return: whether the code of a mapping has a table, for such a program. */
static inline bool kuw_has_table(const struct kuw_state *w, const struct kuw_mapping *m)
{
	return m->kind == KUW_MAPPING_TABLE && m->table->word == w->regs.word;
}

/* Return: the address of such a mapping's table's offset 0. */
static inline u64 kuw_text_of(const struct kuw_mapping *m)
{
	return m->bias + m->table->base;
}

/* Return: the rule of an address of such a mapping; rule 0 before and after the table's text. */
static inline struct kuw_rule kuw_rule_at(const struct kuw_mapping *m, u64 pc)
{
	return kuw_table_find(m->table, pc - kuw_text_of(m));
}

/* How a rule finds the caller's stack pointer. */
enum kuw_way {
	KUW_BY_RSP,	/* at a constant distance from the frame's own */
	KUW_BY_OTHER,	/* by another register, or by memory */
	KUW_BY_SIGNAL,	/* in a signal frame */
};

/*
 * Return: whether the stack pointer of the current frame's caller may be @sp. It must move
 * up with each frame, so that the walk ends. There are two exceptions:
 * - An interrupted function may have popped its return address, or may describe a call that
 *	it will make (glibc 2.19's _L_lock_*): what it needs is in the red zone (psABI 3.2.2).
 *	Only the innermost frame, and the one after each signal frame, are interrupted.
 * - Other registers can lead to other stacks, which are anywhere: from a signal's handler, a
 *	coroutine, code that runs on a stack of its own.
 * The walk counts all steps that lead down, those into the red zone, too, so that it ends all
 * the same (KUW_MAX_STACK_SWITCHES).
 */
bool kuw_may_move(struct kuw_state *w, u64 sp, enum kuw_way how);

/*
 * Whether a call can have left the return address @pc + 1, in the text of @table, which starts at
 * @text. makecontext() and the like put the address of a function's first byte on a new stack. No
 * call returns there. But the rule at @pc would be that of the function before it, whose padding a
 * table counts to it. Profilers that put the address of their own code in the place of return
 * addresses (nwind, memray) have it a byte behind a function's first one, with a rule that ends
 * stacks. The FDE of a signal frame starts a byte before its code, too, and nothing calls that.
 * @rule is that of @pc.
 * Return: 1 if a call can have left it, 0 if not, -EFAULT if the code cannot be read.
 */
int kuw_is_called(const struct kuw_table *table, u64 text, u64 pc, struct kuw_rule rule);

/*
 * Apply a rule of @table, and follow all registers. None changes before all values are computed
 * and checked. Return: KUW_STEPPED, or the stop reason.
 */
u32 kuw_apply(struct kuw_state *w, const struct kuw_table *table, struct kuw_rule rule);

#endif /* KUW_APPLY_H */

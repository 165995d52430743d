/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The shadow stack: what a thread will return to, known from having seen each
 * of its instructions. It uses no unwind information.
 *
 * An entry is a return address with the slot where it lies. It goes when the
 * stack pointer has risen past the slot, however that came about: a return, a
 * longjmp, an exception. Jumps change nothing, so tail calls and PLT entries
 * need no care. A signal makes two entries: the restorer's address, which the
 * kernel pushed, and the interrupted address, which goes with rt_sigreturn.
 *
 * Programs make stacks themselves: fibers, goroutines, OCaml's and Erlang's. Such
 * a stack begins where the stack pointer is set to an unknown place. What was
 * there before is not known, so its frames are certain from there on only.
 */
#ifndef STEPS_SHADOW_H
#define STEPS_SHADOW_H

#include "insn.h"

#define SHADOW_MAX_STACKS	32

/**
 * struct shadow_entry - a frame that is not the innermost
 * @slot: where its return address lies; of an interrupted frame, see struct shadow_signal
 * @ip: the return address, or the interrupted one
 * @ip_at: where the signal frame has the interrupted one, 0 if no signal interrupted it
 * @stack: index of the stack that @slot lies on
 */
struct shadow_entry {
	u64 slot;
	u64 ip;
	u64 ip_at;
	u32 stack;
};

/**
 * struct shadow_stack - a stack
 * @lo: its lowest address; of the program's own, the lowest that was seen
 * @hi: the first address behind
 * @sp: when it was left for another one: the stack pointer
 * @own: the program made it
 */
struct shadow_stack {
	u64 lo;
	u64 hi;
	u64 sp;
	bool own;
};

/**
 * struct shadow - the shadow stack of one thread
 * @word: bytes of the program's words
 * @entries: outermost first
 * @n: how many
 * @stacks: the thread's, those of signal handlers and of the program's own, in
 *	the order in which they were entered; one that C code called from
 *	another stack came back to is there twice
 * @nr_stacks: how many
 * @stack: the one that rsp is on: the last
 * @lost: rsp is on one stack too many
 * @held: a return address was popped into a register: its caller's frame is
 *	still the next one
 * @held_ip: that address
 * @held_slot: where it was
 * @deepest: most entries so far
 * @signals: handlers entered
 */
struct shadow {
	u32 word;
	struct shadow_entry *entries;
	u32 n;
	u32 room;
	struct shadow_stack stacks[SHADOW_MAX_STACKS];
	u32 nr_stacks;
	u32 stack;
	bool lost;
	bool held;
	u64 held_ip;
	u64 held_slot;
	u32 deepest;
	u64 signals;
};

/* A thread begins with @sp, on the stack from @lo to @hi. @word: as in struct shadow. */
void shadow_begin(struct shadow *s, u32 word, u64 sp, u64 lo, u64 hi);
void shadow_free(struct shadow *s);

/* One more frame, found otherwise, outermost first. */
void shadow_add(struct shadow *s, u64 slot, u64 ip);

/* Return: whether @insn at @ip, with @sp, pops a return address. */
bool shadow_pops(const struct shadow *s, struct insn insn, u64 ip, u64 sp);

/* One did, and the address was @popped: a function may have replaced it. */
void shadow_hold(struct shadow *s, u64 popped, u64 sp);

/* One instruction went from @ip and @sp to @to_ip and @to_sp. */
void shadow_step(struct shadow *s, struct insn insn, u64 ip, u64 sp, u64 to_ip,
		 u64 to_sp);

/* A signal frame is gone, by sigreturn with the stack pointer @sp. */
void shadow_sigreturn(struct shadow *s, u64 sp, u64 to_sp);

/**
 * struct shadow_signal - what is known when a handler begins
 * @frame: where the kernel put the signal frame: the new stack pointer
 * @restorer: the return address in it
 * @slot: what the stack pointer is when the restorer calls sigreturn
 * @ip_at: where the interrupted address is in it
 * @ip: that address
 * @sp: and stack pointer
 * @alt: the alternate stack, or empty; used if @frame lies there
 */
struct shadow_signal {
	u64 frame;
	u64 restorer;
	u64 slot;
	u64 ip_at;
	u64 ip;
	u64 sp;
	struct shadow_stack alt;
};

void shadow_signal(struct shadow *s, const struct shadow_signal *sig);

/* Return: how many frames there are besides the innermost. */
u32 shadow_count(const struct shadow *s);

/* Return: whether the frames lead through a stack of the program's own. */
bool shadow_leads_through_own(const struct shadow *s);

/* Return: how many frames there are before what was on that stack already. */
u32 shadow_certain(const struct shadow *s);

/* Return: the address of one of them, 0 being the next to innermost. */
u64 shadow_ip(const struct shadow *s, u32 i);

/* Return: where that address lies, or 0 if it is not there by a call. */
u64 shadow_slot(const struct shadow *s, u32 i);

#endif /* STEPS_SHADOW_H */

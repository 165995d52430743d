/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * One step of a walk, from any frame, and its parts: step.c, norule.c, sigframe.c, ahead.c,
 * new_thread.c.
 */
#ifndef KUW_STEP_H
#define KUW_STEP_H

#include "apply.h"
#include "arch/insn.h"

/*
 * A function with a uretprobe returns to the kernel's trampoline. The kernel knows the true
 * return address, by the stack slot of the replaced one. Put it into the current frame, before
 * that is written and left.
 */
void kuw_restore_ra(struct kuw_state *w);

/* Return: whether @ra is what the kernel puts in the place of a function's return address. */
bool kuw_is_trampoline(const struct kuw_state *w, u64 ra);

/* Step from any frame to its caller. Return: KUW_STEPPED, or the stop reason. */
u32 kuw_step(struct kuw_state *w);

/*
 * Step from a frame without a rule. @m is the mapping of the frame's code, or NULL. @called: a call
 * may have left the frame. Return: KUW_STEPPED, or a stop reason; 0 if no caller is found.
 */
u32 kuw_step_without_rule(struct kuw_state *w, const struct kuw_mapping *m, bool called);

/*
 * Step from a function of i386 that only copies its return address. It changes no register that
 * its caller's CFA needs, and calls preserve fewer (ecx, where main() realigns its stack). In
 * glibc's _start, it has the rule of the outermost frame. Return: KUW_STEPPED, or a stop reason; 0
 * if the current frame is not in such a function.
 */
u32 kuw_step_pc_thunk(struct kuw_state *w);

/*
 * Step from a signal's restorer to the interrupted frame, by the frame that the kernel wrote.
 * Return: KUW_STEPPED, or a stop reason; 0 if the current frame is no restorer.
 */
u32 kuw_step_sigframe(struct kuw_state *w);

/*
 * The code ahead of a frame without an FDE, up to the ret or the tail call of its function, says
 * where the return address is and where the callee-saved registers are. Follow it from the
 * current frame's ip to where it returns to an address behind a call.
 * @regs: out: all registers after the return. Return: false if no way leads there, or if
 * something cannot be read.
 */
bool kuw_run_ahead(struct kuw_state *w, struct kuw_expr_regs *regs);

/* Decode the instruction at @ip. Return: its bytes; 0 if it is unknown, -EFAULT if unreadable. */
int kuw_read_insn(struct kuw_state *w, u64 ip, struct kuw_insn *insn);

/*
 * Return: whether the process's stack starts with this frame, as it does in the start code of
 * ld.so, and of programs whose start file has no FDE. No word can be a return address, from the
 * stack pointer to the first word that the kernel put there (argc), and from the higher one of
 * both as far as start code may have popped before it called a function. In an interrupted frame,
 * no register can be one.
 */
bool kuw_begins_stack(struct kuw_state *w);

/* Return: whether a call can have left @ra, or the kernel has put it in the place of one. */
bool kuw_follows_call(struct kuw_state *w, u64 ra);

/* Code that starts a thread or a fiber, where CFI does not say so: the outermost frame. */

/* Return: whether @ip is after the call in the code that starts musl's threads. */
bool kuw_begins_thread(struct kuw_state *w, u64 ip);

/* Return: whether @ip is where the function of a fiber of make_fcontext() would return to. */
bool kuw_begins_fiber(struct kuw_state *w, u64 ip);

/* Return: whether the thread was made by the system call before @ip, and starts here. */
bool kuw_is_new_thread(struct kuw_state *w, const struct kuw_mapping *m, u64 ip);

#endif /* KUW_STEP_H */

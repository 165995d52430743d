/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What code without an FDE will do: the instructions ahead of a frame's ip, up to the ret or the
 * tail call of its function, say where the return address is and where the callee-saved
 * registers are.
 */
#ifndef KUW_AHEAD_H
#define KUW_AHEAD_H

#include "apply.h"

/*
 * Follow the code from the current frame's ip to where it returns to an address behind a call.
 * @most: how many instructions to follow; @w has a budget for the whole walk, too.
 * @regs: out: all registers after the return. Return: false if no way leads there, or if
 * something cannot be read.
 */
bool kuw_run_ahead(struct kuw_state *w, u32 most, struct kuw_expr_regs *regs);

/* Return: whether a call can have left @ra: the code before it ends with one. */
bool kuw_follows_call(struct kuw_state *w, u64 ra);

#endif /* KUW_AHEAD_H */

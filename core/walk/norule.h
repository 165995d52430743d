/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Steps from code that no FDE covers. */
#ifndef KUW_NORULE_H
#define KUW_NORULE_H

#include "apply.h"

/*
 * Whether a call can have left the return address @pc + 1. makecontext() and the like put the
 * address of a function's first byte on a new stack. No call returns there. But a table counts
 * padding to the function before it, so the rule at @pc would be that of another function.
 * Return: 1 if a call can have left it, 0 if not, -EFAULT if the code cannot be read.
 */
int kuw_is_called(u64 pc);

/*
 * Step from a frame without a rule. @m is the mapping of the frame's code, or NULL. @why is the
 * reason to stop if no caller is found. Return: KUW_STEPPED, or a stop reason.
 */
u32 kuw_step_without_rule(struct kuw_state *w, const struct kuw_mapping *m,
			  u32 why);

#endif /* KUW_NORULE_H */

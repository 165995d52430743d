/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One step of a walk, from any frame. */
#ifndef KUW_STEP_H
#define KUW_STEP_H

#include "apply.h"

/*
 * A function with a uretprobe returns to the kernel's trampoline. The kernel knows the true
 * return address, by the stack slot of the replaced one. Put it into the current frame, before
 * that is written and left.
 */
void kuw_restore_ra(struct kuw_state *w);

/* Step from any frame to its caller. Return: KUW_STEPPED, or the stop reason. */
u32 kuw_step(struct kuw_state *w);

#endif /* KUW_STEP_H */

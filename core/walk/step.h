/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One step of a walk, from any frame. */
#ifndef KUW_STEP_H
#define KUW_STEP_H

#include "apply.h"

/* Step from any frame to its caller. Return: KUW_STEPPED, or the stop reason. */
u32 kuw_step(struct kuw_state *w);

#endif /* KUW_STEP_H */

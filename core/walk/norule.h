/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Steps from code that no FDE covers. */
#ifndef KUW_NORULE_H
#define KUW_NORULE_H

#include "apply.h"

/*
 * Step from a frame without a rule. @m is the mapping of the frame's code, or NULL. @why is the
 * reason to stop if no caller is found. Return: KUW_STEPPED, or a stop reason.
 */
u32 kuw_step_without_rule(struct kuw_state *w, const struct kuw_mapping *m,
			  u32 why);

#endif /* KUW_NORULE_H */

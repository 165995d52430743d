/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Places for walks (walk_place.c), and walks for the module itself (walk_task.c). */
#ifndef KW_WALK_PLACE_H
#define KW_WALK_PLACE_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "rule_cache.h"

struct kuw_result;
struct kuw_state;
struct kunwind_result;
struct pt_regs;
struct task_struct;

/*
 * A CPU's place for the walks of one context level. Only that CPU writes it, at that level.
 * @cache comes first, so that a walk needs no offset to reach it.
 */
struct kw_place {
	struct kuw_rule_cache cache;
	/* The task whose stack is walked; NULL while no walk uses the place. */
	const struct task_struct *task;
};

int kw_walks_init(void);
int kw_walks_open(void);
void kw_walks_close(void);
struct kw_place *kw_walks_enter(const struct task_struct *task);

static inline void kw_walks_leave(struct kw_place *place)
{
	barrier();
	place->task = NULL;
}

u64 kw_walk(const struct pt_regs *regs, u64 *frames, u32 capacity, struct kuw_result *result);
void kw_walk_own(const struct pt_regs *regs, struct kuw_state *pieces, u64 *frames,
		 u32 capacity, struct kuw_result *result);
u64 kw_walk_other(const struct task_struct *task, const struct pt_regs *regs, u64 *frames,
		  u32 capacity, struct kuw_result *result);
void kw_result_tell(const struct kuw_result *r, u64 space, struct kunwind_result *result);

#endif /* KW_WALK_PLACE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Places for walks (walk_place.c), and walks for the module itself (walk_task.c). */
#ifndef KW_WALK_PLACE_H
#define KW_WALK_PLACE_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
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

/* Those of interrupt_context_level(): task, softirq, hardirq, NMI. */
#define KW_NR_LEVELS	4

DECLARE_PER_CPU_ALIGNED(struct kw_place, kw_places[KW_NR_LEVELS]);

/* Return: this CPU's place of this context level. */
static inline struct kw_place *kw_place_here(void)
{
	return this_cpu_ptr(&kw_places[likely(in_task()) ? 0 : interrupt_context_level()]);
}

/*
 * Start a walk of @task's stack. Context: any, with preemption off until kw_walks_leave().
 * Return: the place for the walk; NULL if another walk is using it.
 */
static inline struct kw_place *kw_walks_enter(const struct task_struct *task)
{
	struct kw_place *place = kw_place_here();

	if (unlikely(place->task))
		return NULL;
	place->task = task;
	/* A walk that interrupts this one, at this level, must find it taken. */
	barrier();
	return place;
}

static inline void kw_walks_leave(struct kw_place *place)
{
	barrier();
	place->task = NULL;
}

int kw_walks_init(void);
int kw_walks_open(void);
void kw_walks_close(void);

u64 kw_walk(const struct pt_regs *regs, u64 *frames, u32 capacity, struct kuw_result *result);
void kw_walk_own(const struct pt_regs *regs, struct kuw_state *pieces, u64 *frames,
		 u32 capacity, struct kuw_result *result);
u64 kw_walk_other(const struct task_struct *task, const struct pt_regs *regs, u64 *frames,
		  u32 capacity, struct kuw_result *result);
void kw_result_tell(const struct kuw_result *r, u64 space, struct kunwind_result *result);

#endif /* KW_WALK_PLACE_H */

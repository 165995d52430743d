// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Each CPU has one place for walks at each context level. A level is a context that can
 * interrupt another one. A place has a memo, and only one walk at a time may use it.
 *
 * A walk can interrupt another one at its own level: a read of a missing page is an
 * exception, and a tracer may want a stack of that. Both walks would use the same memo,
 * so the inner one is refused.
 */
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "memo.h"
#include "owner.h"
#include "registers.h"
#include "walk_place.h"

/* All but the last are in the order of interrupt_context_level(). */
enum level {
	LEVEL_TASK,
	LEVEL_SOFTIRQ,
	LEVEL_HARDIRQ,
	LEVEL_NMI,
	/* A real NMI, in an exception or breakpoint that the kernel treats like an NMI. */
	LEVEL_NESTED_NMI,
	NR_LEVELS
};

/*
 * The size of a memo for the task level, which has most walks: those at system calls and
 * faults. 256 KiB hold 16,000 frames of a large program. A walk touches only the part that
 * it needs. With more than 256 CPUs, the memos are smaller.
 */
#define TASK_ORDER	5
#define TASKS_BUDGET	SZ_64M

/*
 * kw_walks_open() allocates the memos' memory for the first consumer. Walks use it while
 * there is a consumer. kw_walks_close() frees it when the hooks go, minutes after the last
 * consumer.
 */
static DEFINE_PER_CPU_ALIGNED(struct kw_place, places[NR_LEVELS]);

/**
 * kw_walks_enter() - start a walk
 *
 * Context: any, with preemption off until kw_walks_leave().
 * Return: the place for the walk; NULL if another walk is using it, or if NMIs are nested
 *	more than two deep, for which there is no place.
 */
struct kw_place *kw_walks_enter(void)
{
	struct kw_place *place;
	unsigned int level;

	if (likely(in_task())) {
		place = this_cpu_ptr(&places[LEVEL_TASK]);
	} else {
		level = interrupt_context_level();
		if (level == LEVEL_NMI)
			level += (in_nmi() >> NMI_SHIFT) - 1;
		if (unlikely(level >= NR_LEVELS))
			return NULL;
		place = this_cpu_ptr(&places[level]);
	}
	if (unlikely(place->taken))
		return NULL;
	place->taken = true;
	/* A walk that interrupts this one, at this level, must find it taken. */
	barrier();
	return place;
}

void kw_walks_leave(struct kw_place *place)
{
	barrier();
	place->taken = false;
}

void kw_walks_close(void)
{
	struct kuw_memo *memo;
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < NR_LEVELS; i++) {
			memo = &per_cpu_ptr(&places[i], cpu)->memo;
			kvfree(memo->entries);
			memo->entries = NULL;
		}
}

static u8 memo_order(enum level level)
{
	u8 order = level == LEVEL_TASK ? TASK_ORDER : 0;

	while (order && num_possible_cpus() * kuw_memo_bytes(order) > TASKS_BUDGET)
		order--;
	return order;
}

/*
 * Allocate the memos. They are for the whole system, so no cgroup is charged.
 * Return: 0, -ENOMEM.
 */
int kw_walks_open(void)
{
	struct kuw_memo *memo;
	int cpu, i;

	kw_registers_init();
	for_each_possible_cpu(cpu)
		for (i = 0; i < NR_LEVELS; i++) {
			memo = &per_cpu_ptr(&places[i], cpu)->memo;
			memset(memo, 0, sizeof(*memo));
			memo->order = memo_order(i);
			memo->entries = kvzalloc_node(kuw_memo_bytes(memo->order),
						      KW_GFP & ~__GFP_ACCOUNT,
						      cpu_to_node(cpu));
			if (!memo->entries) {
				kw_walks_close();
				return -ENOMEM;
			}
		}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a walk needs besides an address map, for each CPU and each context that can
 * interrupt another one: a memo, and that it is alone there.
 *
 * A walk can be interrupted by another one at its own level. A read of a page that is
 * not there is an exception, which a tracer may want a stack of. The inner walk would
 * use the memo that the outer one is in the middle of, so it is refused.
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
#include "walks.h"

/* The first ones are in the order of interrupt_context_level(). */
enum level {
	LEVEL_TASK,
	LEVEL_SOFTIRQ,
	LEVEL_HARDIRQ,
	LEVEL_NMI,
	/* In an exception or breakpoint that the kernel treats like an NMI, one that is. */
	LEVEL_NESTED_NMI,
	NR_LEVELS
};

/*
 * How large a task's memo is: most walks are of tasks, by their system calls and faults.
 * 16,000 frames of a large program, in 256 KiB, of which nothing is touched that
 * is not needed; less where there are more than 256 CPUs.
 */
#define TASK_ORDER	5
#define TASKS_BUDGET	SZ_64M

/*
 * The memos' memory is made with the first consumer, used by walks, which a consumer
 * stands behind, and freed after the last consumer has gone.
 */
static DEFINE_PER_CPU_ALIGNED(struct kw_place, places[NR_LEVELS]);

/**
 * kw_walks_enter() - begin a walk
 *
 * Context: any, with preemption off until kw_walks_leave().
 * Return: where to walk; NULL if another walk is in the middle of its work there, or if
 *	there is no place left: two are made in NMIs, one within the other.
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
	/* What interrupts from here on, at this level, finds it taken. */
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
			memo = &per_cpu(places, cpu)[i].memo;
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
 * It is for the whole system, and so nobody's cgroup pays.
 * Return: 0, -ENOMEM.
 */
int kw_walks_open(void)
{
	struct kuw_memo *memo;
	int cpu, i;

	kw_registers_init();
	for_each_possible_cpu(cpu)
		for (i = 0; i < NR_LEVELS; i++) {
			memo = &per_cpu(places, cpu)[i].memo;
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

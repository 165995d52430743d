// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Each CPU has one place for walks at each context level. A level is a context that can
 * interrupt another one. A place has a cache of rules, and only one walk at a time may use it.
 *
 * A walk can interrupt another one at its own level: a read of a missing page is an
 * exception, and a tracer may want a stack of that. Both walks would use the same cache,
 * so the inner one is refused.
 */
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "owner.h"
#include "registers.h"
#include "rule_cache.h"
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
 * kw_walks_open() allocates the caches' memory for the first consumer. Walks use it while
 * there is a consumer. kw_walks_close() frees it when the hooks go, minutes after the last
 * consumer.
 */
static DEFINE_PER_CPU_ALIGNED(struct kw_place, places[NR_LEVELS]);

/* Return: this CPU's place of this context level; NULL for an NMI that has none. */
static struct kw_place *place_here(void)
{
	unsigned int level;

	if (likely(in_task()))
		return this_cpu_ptr(&places[LEVEL_TASK]);
	level = interrupt_context_level();
	if (level == LEVEL_NMI)
		level += (in_nmi() >> NMI_SHIFT) - 1;
	return likely(level < NR_LEVELS) ? this_cpu_ptr(&places[level]) : NULL;
}

/* Context: a walk. Return: the task whose stack it walks. */
const struct task_struct *kw_walked_task(void)
{
	return place_here()->other ?: current;
}

/*
 * Start a walk. Context: any, with preemption off until kw_walks_leave().
 * Return: the place for the walk; NULL if another walk is using it, or if NMIs are nested
 *	more than two deep, for which there is no place.
 */
struct kw_place *kw_walks_enter(void)
{
	struct kw_place *place = place_here();

	if (unlikely(!place || place->taken))
		return NULL;
	place->taken = true;
	/* A walk that interrupts this one, at this level, must find it taken. */
	barrier();
	return place;
}

void kw_walks_close(void)
{
	struct kuw_rule_cache *cache;
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < NR_LEVELS; i++) {
			cache = &per_cpu_ptr(&places[i], cpu)->cache;
			kvfree(cache->entries);
			cache->entries = NULL;
		}
}

/*
 * Allocate the caches. They are for the whole system, so no cgroup is charged.
 * Return: 0, -ENOMEM.
 */
int kw_walks_open(void)
{
	struct kuw_rule_cache *cache;
	int cpu, i;

	kw_registers_init();
	for_each_possible_cpu(cpu)
		for (i = 0; i < NR_LEVELS; i++) {
			cache = &per_cpu_ptr(&places[i], cpu)->cache;
			memset(cache, 0, sizeof(*cache));
			cache->entries = kvzalloc_node(KUW_CACHE_BYTES,
						       KW_GFP & ~__GFP_ACCOUNT,
						       cpu_to_node(cpu));
			if (!cache->entries) {
				kw_walks_close();
				return -ENOMEM;
			}
		}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Each CPU has one place for walks at each context level. A level is a context that can
 * interrupt another one. A place has a cache of rules, and only one walk at a time may use it.
 *
 * A walk can interrupt another one at its own level: a read of a missing page is an
 * exception, and a tracer may want a stack of that. So can an NMI in a breakpoint, which the
 * kernel treats like an NMI. Both walks would use the same cache, so the inner one is refused.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "owner.h"
#include "registers.h"
#include "rule_cache.h"
#include "walk_place.h"

/* Those of interrupt_context_level(): task, softirq, hardirq, NMI. */
#define NR_LEVELS	4

/*
 * kw_walks_open() allocates the caches' memory for the first consumer. Walks use it while
 * there is a consumer. kw_walks_close() frees it when the hooks go, minutes after the last
 * consumer.
 */
static DEFINE_PER_CPU_ALIGNED(struct kw_place, places[NR_LEVELS]);

/* Return: this CPU's place of this context level. */
static struct kw_place *place_here(void)
{
	return this_cpu_ptr(&places[likely(in_task()) ? 0 : interrupt_context_level()]);
}

/* Context: a walk. Return: the task whose stack it walks. */
const struct task_struct *kw_walked_task(void)
{
	return place_here()->task;
}

/*
 * Start a walk of @task's stack. Context: any, with preemption off until kw_walks_leave().
 * Return: the place for the walk; NULL if another walk is using it.
 */
struct kw_place *kw_walks_enter(const struct task_struct *task)
{
	struct kw_place *place = place_here();

	if (unlikely(place->task))
		return NULL;
	place->task = task;
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

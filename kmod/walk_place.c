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
#include <linux/slab.h>
#include <linux/topology.h>
#include "owner.h"
#include "registers.h"
#include "rule_cache.h"
#include "walk_place.h"

/*
 * kw_walks_open() allocates the caches' memory for the first consumer. Walks use it while
 * there is a consumer. kw_walks_close() frees it when the hooks go, minutes after the last
 * consumer.
 */
DEFINE_PER_CPU_ALIGNED(struct kw_place, kw_places[KW_NR_LEVELS]);

/* Context: a walk. Return: the task whose stack it walks. */
const struct task_struct *kw_walked_task(void)
{
	return kw_place_here()->task;
}

void kw_walks_close(void)
{
	struct kuw_rule_cache *cache;
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < KW_NR_LEVELS; i++) {
			cache = &per_cpu_ptr(&kw_places[i], cpu)->cache;
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
		for (i = 0; i < KW_NR_LEVELS; i++) {
			cache = &per_cpu_ptr(&kw_places[i], cpu)->cache;
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

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What tables may cost: a budget of bytes, of which a user may have a part. Tables
 * that no snapshot uses are idle: the oldest go first, when the budget is used up or
 * when the kernel wants memory, for the system or for a memory cgroup.
 */
#include <linux/list_lru.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "budget.h"
#include "cache.h"
#include "owner.h"
#include "stats.h"

/*
 * What a table costs in addition to its own bytes. It takes less, but a file without unwind
 * information has no others, and a user can have one after another mapped: so many
 * as there are pages in the budget, and no more, are in the hash and in the lists.
 */
#define HEAD_COST	PAGE_SIZE
/* Bytes that are evicted without a pause. */
#define EVICT_BATCH	SZ_4M

unsigned long kw_table_budget __read_mostly;

DEFINE_SPINLOCK(kw_cache_lock);
/* Idle tables, the oldest first. */
static LIST_HEAD(lru);
static size_t lru_bytes;
static struct kmem_cache *heads;
/*
 * The same tables as in @lru, by the memory cgroup that they are charged to: a cgroup
 * that is at its limit gets back what it pays for, before it kills. Its lock nests
 * inside the cache's.
 */
static struct list_lru idle;
static struct shrinker *shrinker;

static size_t cost(const struct kw_table *t)
{
	return HEAD_COST + t->bytes;
}

static void uncharge(struct kw_owner *owner, size_t bytes)
{
	kw_gauge_sub(table_bytes, bytes);
	if (owner)
		atomic_long_sub(bytes, &owner->table_bytes);
}

/* Out of the budget, and out of memory: nobody can find @t any more. */
void kw_table_free(struct kw_table *t)
{
	uncharge(t->owner, cost(t));
	kw_owner_put(t->owner);
	mem_cgroup_put(t->memcg);
	kw_gauge_sub(tables, 1);
	kvfree(t->table);
	kmem_cache_free(heads, t);
}

static void free_all(struct list_head *victims)
{
	struct kw_table *t, *next;

	list_for_each_entry_safe(t, next, victims, lru) {
		kw_table_free(t);
		cond_resched();
	}
}

/* No snapshot uses it any more. */
void kw_idle_add(struct kw_table *t)
{
	lockdep_assert_held(&kw_cache_lock);
	list_add_tail(&t->lru, &lru);
	list_lru_add_obj(&idle, &t->idle);
	lru_bytes += cost(t);
	if (t->owner)
		t->owner->lru_bytes += cost(t);
}

/* Of all lists but @idle. */
static void lru_forget(struct kw_table *t)
{
	lockdep_assert_held(&kw_cache_lock);
	list_del_init(&t->lru);
	lru_bytes -= cost(t);
	if (t->owner)
		t->owner->lru_bytes -= cost(t);
}

/* A snapshot uses it again. */
void kw_idle_del(struct kw_table *t)
{
	list_lru_del_obj(&idle, &t->idle);
	lru_forget(t);
}

/* Out of the cache, where nobody has found it. */
static void take_out(struct kw_table *t, struct list_head *victims)
{
	lockdep_assert_held(&kw_cache_lock);
	hlist_del_init(&t->node);
	list_add(&t->lru, victims);
	kw_count(table_evictions);
}

/* Take the oldest ones, of one owner or of all (NULL), until @bytes are found. */
static size_t evict(size_t bytes, struct kw_owner *owner,
		    struct list_head *victims)
{
	struct kw_table *t, *next;
	size_t found = 0;

	lockdep_assert_held(&kw_cache_lock);
	list_for_each_entry_safe(t, next, &lru, lru) {
		if (found >= bytes || (owner && !owner->lru_bytes))
			break;
		if (owner && t->owner != owner)
			continue;
		kw_idle_del(t);
		take_out(t, victims);
		found += cost(t);
	}
	return found;
}

/*
 * Evict what nobody uses until @used bytes are no more than @limit. What was evicted
 * is added to @evicted: it is uncharged only when it is freed. Return: whether they fit.
 */
static bool fit(size_t used, size_t limit, struct kw_owner *owner,
		struct list_head *victims, size_t *evicted)
{
	size_t found = 0;

	if (used > limit)
		found = evict(used - limit, owner, victims);
	*evicted += found;
	return used - found <= limit;
}

/* What a user may have in all, with what nobody uses of it. */
static size_t limit_of(const struct kw_owner *owner)
{
	size_t used = kw_gauge(table_bytes) - lru_bytes;
	size_t own = atomic_long_read(&owner->table_bytes) - owner->lru_bytes;

	lockdep_assert_held(&kw_cache_lock);
	return kw_owner_limit(owner, kw_table_budget, used - min(used, own));
}

/* Make room for @bytes more. Return: false if the tables in use fill the budget. */
static bool charge(struct kw_owner *owner, size_t bytes)
{
	LIST_HEAD(victims);
	size_t evicted = 0;
	bool fits = true;

	spin_lock(&kw_cache_lock);
	if (owner)
		fits = fit(atomic_long_read(&owner->table_bytes) + bytes,
			   limit_of(owner), owner, &victims, &evicted);
	fits = fits && fit(kw_gauge(table_bytes) + bytes - evicted,
			   kw_table_budget, NULL, &victims, &evicted);
	if (fits) {
		kw_gauge_add(table_bytes, bytes);
		if (owner)
			atomic_long_add(bytes, &owner->table_bytes);
	}
	spin_unlock(&kw_cache_lock);
	free_all(&victims);
	if (!fits)
		kw_count(table_refusals);
	return fits;
}

/* What is left for a table of @owner, if all idle ones are evicted. */
size_t kw_budget_room(const struct kw_owner *owner)
{
	size_t limit = kw_table_budget, used, left;

	spin_lock(&kw_cache_lock);
	used = kw_gauge(table_bytes) - lru_bytes;
	left = limit - min(limit, used);
	if (owner) {
		limit = limit_of(owner);
		used = atomic_long_read(&owner->table_bytes) - owner->lru_bytes;
		left = min(left, limit - min(limit, used));
	}
	spin_unlock(&kw_cache_lock);
	return left;
}

/*
 * A table that says nothing yet: it counts for the budget of @owner, or NULL; @memcg is
 * the cgroup that allocations are charged to now, or NULL if none is to be charged.
 * Context: process context, sleeps. Return: with a reference; NULL for want of memory.
 */
struct kw_table *kw_table_alloc(const struct kw_identity *id, struct kw_owner *owner,
				struct mem_cgroup *memcg)
{
	gfp_t gfp = memcg ? KW_GFP : KW_GFP & ~__GFP_ACCOUNT;
	struct kw_table *t;

	if (!charge(owner, HEAD_COST))
		return NULL;
	t = kmem_cache_alloc_lru(heads, &idle, gfp | __GFP_ZERO);
	if (!t) {
		uncharge(owner, HEAD_COST);
		kw_count_failed_allocation();
		return NULL;
	}
	INIT_LIST_HEAD(&t->idle);
	INIT_LIST_HEAD(&t->lru);
	INIT_HLIST_NODE(&t->node);
	t->id = *id;
	t->refs = 1;
	t->owner = kw_owner_hold(owner);
	if (mem_cgroup_tryget(memcg))
		t->memcg = memcg;
	kw_gauge_add(tables, 1);
	return t;
}

/* @t has so many bytes. Return: false if they are more than there is room for. */
bool kw_table_charge(struct kw_table *t, size_t bytes)
{
	if (!charge(t->owner, bytes))
		return false;
	t->bytes = bytes;
	return true;
}

/*
 * The kernel's list is of tables, and what reclaim wants are pages: a table is taken
 * for as many as it has on average.
 */
static unsigned long pages_of_one(void)
{
	unsigned long tables = list_lru_count(&idle);

	return max(READ_ONCE(lru_bytes) / PAGE_SIZE / max(tables, 1UL), 1UL);
}

static unsigned long count_pages(struct shrinker *s, struct shrink_control *sc)
{
	return list_lru_shrink_count(&idle, sc) * pages_of_one() ?: SHRINK_EMPTY;
}

struct found {
	struct list_head victims;
	size_t bytes;
};

static enum lru_status isolate(struct list_head *item, struct list_lru_one *list,
			       spinlock_t *lock, void *data)
{
	struct kw_table *t = container_of(item, struct kw_table, idle);
	struct found *found = data;

	/* The other way round they nest. */
	if (!spin_trylock(&kw_cache_lock))
		return LRU_SKIP;
	list_lru_isolate(list, item);
	lru_forget(t);
	take_out(t, &found->victims);
	found->bytes += cost(t);
	spin_unlock(&kw_cache_lock);
	return LRU_REMOVED;
}

static unsigned long scan_pages(struct shrinker *s, struct shrink_control *sc)
{
	struct found found = { .victims = LIST_HEAD_INIT(found.victims) };

	sc->nr_to_scan = DIV_ROUND_UP(sc->nr_to_scan, pages_of_one());
	list_lru_shrink_walk(&idle, sc, isolate, &found);
	free_all(&found.victims);
	return found.bytes ? DIV_ROUND_UP(found.bytes, PAGE_SIZE) : SHRINK_STOP;
}

/* Evict a batch of idle tables. Return: whether there were any. */
bool kw_idle_evict(void)
{
	LIST_HEAD(victims);
	size_t found;

	spin_lock(&kw_cache_lock);
	found = evict(EVICT_BATCH, NULL, &victims);
	spin_unlock(&kw_cache_lock);
	free_all(&victims);
	return found;
}

int __init kw_budget_init(void)
{
	heads = KMEM_CACHE(kw_table, 0);
	if (!heads)
		return -ENOMEM;
	shrinker = shrinker_alloc(SHRINKER_MEMCG_AWARE | SHRINKER_NUMA_AWARE, "kunwind");
	if (!shrinker)
		goto no_shrinker;
	if (list_lru_init_memcg(&idle, shrinker))
		goto no_list;
	shrinker->count_objects = count_pages;
	shrinker->scan_objects = scan_pages;
	shrinker_register(shrinker);
	return 0;

no_list:
	shrinker_free(shrinker);
no_shrinker:
	kmem_cache_destroy(heads);
	return -ENOMEM;
}

void kw_budget_exit(void)
{
	shrinker_free(shrinker);
	while (kw_idle_evict())
		;
	WARN_ON(kw_gauge(tables));
	list_lru_destroy(&idle);
	kmem_cache_destroy(heads);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * All tables together have a budget of bytes. Each user may have a part of it. A table
 * that no snapshot uses is idle. Idle tables are evicted, oldest first, when the budget
 * is full or when the kernel reclaims memory, for the system or for a memory cgroup.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "budget.h"
#include "cache.h"
#include "compat/list_lru.h"
#include "compat/shrinker.h"
#include "owner.h"
#include "stats.h"

/* Tables to evict under one hold of the lock. */
#define EVICT_BATCH	64

unsigned long kw_table_budget __read_mostly;

DEFINE_SPINLOCK(kw_cache_lock);
/* Idle tables, the oldest first. Each owner has a list of its own, too. */
static LIST_HEAD(lru);
static size_t lru_bytes;
static struct kmem_cache *heads;
/*
 * The same tables as in @lru, by the memory cgroup that they are charged to: a cgroup
 * at its limit reclaims the tables that it pays for, before it kills a process. This
 * list's lock nests inside kw_cache_lock.
 */
static struct list_lru idle;
static struct shrinker *shrinker;

static size_t cost(const struct kw_table *t)
{
	return KW_HEAD_COST + t->bytes;
}

static void uncharge(struct kw_owner *owner, size_t bytes)
{
	kw_gauge_sub(table_bytes, bytes);
	if (owner)
		atomic_long_sub(bytes, &owner->table_bytes);
}

static void destroy(struct kw_table *t)
{
	kw_owner_put(t->owner);
	mem_cgroup_put(t->memcg);
	kw_gauge_sub(tables, 1);
	kvfree(t->table);
	kmem_cache_free(heads, t);
}

/* Uncharge and free @t, which is in no hash and on no list of idle tables. */
void kw_table_free(struct kw_table *t)
{
	uncharge(t->owner, cost(t));
	destroy(t);
}

static void free_all(struct list_head *victims)
{
	struct kw_table *t, *next;

	list_for_each_entry_safe(t, next, victims, lru) {
		destroy(t);
		cond_resched();
	}
}

/* No snapshot uses @t any more. */
void kw_idle_add(struct kw_table *t)
{
	lockdep_assert_held(&kw_cache_lock);
	list_add_tail(&t->lru, &lru);
	list_lru_add_obj(&idle, &t->idle);
	lru_bytes += cost(t);
	if (t->owner) {
		list_add_tail(&t->own, &t->owner->lru);
		t->owner->lru_bytes += cost(t);
	}
}

/* Remove @t from the lists of idle tables. The caller has removed it from @idle. */
static void lru_forget(struct kw_table *t)
{
	lockdep_assert_held(&kw_cache_lock);
	list_del(&t->lru);
	lru_bytes -= cost(t);
	if (t->owner) {
		list_del(&t->own);
		t->owner->lru_bytes -= cost(t);
	}
}

/* A snapshot uses @t again. */
void kw_idle_del(struct kw_table *t)
{
	list_lru_del_obj(&idle, &t->idle);
	lru_forget(t);
}

/*
 * Move @t from the cache to @victims. The caller has removed it from the idle lists. Uncharge it
 * now: the task that frees it may have to wait, and others would find the budget full.
 */
static void take_out(struct kw_table *t, struct list_head *victims)
{
	lockdep_assert_held(&kw_cache_lock);
	hlist_del_init(&t->node);
	list_add(&t->lru, victims);
	uncharge(t->owner, cost(t));
	kw_count(table_evictions);
}

/*
 * Take the oldest idle tables, of one owner or of all (NULL), until they have @bytes; a batch
 * at most. Return: the bytes of those taken.
 */
static size_t evict(size_t bytes, struct kw_owner *owner, struct list_head *victims)
{
	struct kw_table *t;
	size_t found = 0;
	unsigned int i;

	lockdep_assert_held(&kw_cache_lock);
	for (i = 0; i < EVICT_BATCH && found < bytes; i++) {
		t = owner ? list_first_entry_or_null(&owner->lru, struct kw_table, own) :
			    list_first_entry_or_null(&lru, struct kw_table, lru);
		if (!t)
			break;
		kw_idle_del(t);
		take_out(t, victims);
		found += cost(t);
	}
	return found;
}

/*
 * How many bytes of tables a user may have, with the user's idle ones. Idle tables of
 * others do not reduce it.
 */
static size_t limit_of(const struct kw_owner *owner)
{
	size_t used = kw_gauge(table_bytes) - lru_bytes;
	size_t own = atomic_long_read(&owner->table_bytes) - owner->lru_bytes;

	lockdep_assert_held(&kw_cache_lock);
	return kw_owner_limit(owner, kw_table_budget, used - min(used, own));
}

static size_t excess(size_t used, size_t limit)
{
	return used - min(used, limit);
}

/* Make room for @bytes more. Return: false if the tables in use fill the budget. */
static bool charge(struct kw_owner *owner, size_t bytes)
{
	size_t over, evicted;

	do {
		struct kw_owner *of = owner;
		LIST_HEAD(victims);

		spin_lock(&kw_cache_lock);
		over = owner ? excess(atomic_long_read(&owner->table_bytes) + bytes,
				      limit_of(owner)) : 0;
		if (!over) {
			of = NULL;
			over = excess(kw_gauge(table_bytes) + bytes, kw_table_budget);
		}
		evicted = over ? evict(over, of, &victims) : 0;
		if (!over) {
			kw_gauge_add(table_bytes, bytes);
			if (owner)
				atomic_long_add(bytes, &owner->table_bytes);
		}
		spin_unlock(&kw_cache_lock);
		free_all(&victims);
	} while (evicted);
	if (over)
		kw_count(table_refusals);
	return !over;
}

/* Return: the bytes left for a table of @owner if all idle tables were evicted. */
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
 * Make an empty table, charged to the budget of @owner unless that is NULL. @memcg is
 * the active memory cgroup, which the caller holds, or NULL to charge no cgroup.
 * Context: process context, sleeps.
 * Return: a reference; NULL if there is no memory or no room in the budget.
 */
struct kw_table *kw_table_alloc(const struct kw_identity *id, struct kw_owner *owner,
				struct mem_cgroup *memcg)
{
	gfp_t gfp = memcg ? KW_GFP : KW_GFP & ~__GFP_ACCOUNT;
	struct kw_table *t;

	if (!charge(owner, KW_HEAD_COST))
		return NULL;
	t = kmem_cache_alloc_lru(heads, &idle, gfp | __GFP_ZERO);
	if (!t) {
		uncharge(owner, KW_HEAD_COST);
		kw_count(allocation_failures);
		pr_debug("no memory for %s()\n", __func__);
		return NULL;
	}
	INIT_LIST_HEAD(&t->idle);
	t->id = *id;
	atomic_long_set(&t->refs, 1);
	t->owner = owner;
	if (owner)
		refcount_inc(&owner->refs);
	t->memcg = kw_memcg_hold(memcg);
	kw_gauge_add(tables, 1);
	return t;
}

/* Charge @t with its bytes. Return: false if the budget has no room for them. */
bool kw_table_charge(struct kw_table *t, size_t bytes)
{
	if (!charge(t->owner, bytes))
		return false;
	t->bytes = bytes;
	return true;
}

static unsigned long count_tables(struct shrinker *s, struct shrink_control *sc)
{
	return list_lru_shrink_count(&idle, sc) ?: SHRINK_EMPTY;
}

static enum lru_status isolate(struct list_head *item, struct list_lru_one *list,
			       void *data)
{
	struct kw_table *t = container_of(item, struct kw_table, idle);

	/* The caller holds the list's lock, which nests inside kw_cache_lock. */
	if (!spin_trylock(&kw_cache_lock))
		return LRU_SKIP;
	list_lru_isolate(list, item);
	lru_forget(t);
	take_out(t, data);
	spin_unlock(&kw_cache_lock);
	return LRU_REMOVED;
}

static unsigned long scan_tables(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long freed;
	LIST_HEAD(victims);

	freed = list_lru_shrink_walk(&idle, sc, isolate, &victims);
	free_all(&victims);
	return freed;
}

/* Evict a batch of idle tables. Return: whether there were any. */
bool kw_idle_evict(void)
{
	LIST_HEAD(victims);
	size_t found;

	spin_lock(&kw_cache_lock);
	found = evict(SIZE_MAX, NULL, &victims);
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
	/* Tables are few and large: take one at a time. */
	shrinker->batch = 1;
	shrinker->count_objects = count_tables;
	shrinker->scan_objects = scan_tables;
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

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cache of tables: a hash by file identity, an LRU list of what no snapshot
 * uses, a budget of bytes, of which a user may have a part, and a shrinker, for the
 * system and for each memory cgroup. One spinlock covers all of it; nothing is
 * allocated, read or freed under it.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/list_lru.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/vdso.h>
#include "build.h"
#include "owner.h"
#include "stats.h"
#include "cache.h"

/* Files mapped executable on a large system: some thousands. */
#define CACHE_BITS	12
/*
 * What a table costs beside its own bytes. It takes less, but a file without unwind
 * information has no others, and a user can have one after another mapped: so many
 * as there are pages in the budget, and no more, are in the hash and in the lists.
 */
#define HEAD_COST	PAGE_SIZE
/* Bytes that are evicted without a pause. */
#define EVICT_BATCH	SZ_4M
/*
 * How long one waits for another task to build. It can be stopped, starved by
 * its cgroup, or read from a file server that hangs: then build another one.
 */
#define PATIENCE	(5 * HZ)
/* Attempts to compile a file that changes under the compiler. */
#define MAX_TRIES	4

unsigned long kw_table_budget __read_mostly;

static DEFINE_SPINLOCK(cache_lock);
static struct hlist_head cache[1 << CACHE_BITS];
static LIST_HEAD(lru);
static size_t lru_bytes;
static bool cache_open;
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

static struct hlist_head *bucket(const struct kw_identity *id)
{
	return &cache[hash_32(jhash2((const u32 *)id, sizeof(*id) / 4, 0),
			      CACHE_BITS)];
}

static void uncharge(struct kw_owner *owner, size_t bytes)
{
	kw_gauge_sub(table_bytes, bytes);
	if (owner)
		atomic_long_sub(bytes, &owner->table_bytes);
}

static void table_free(struct kw_table *t)
{
	uncharge(t->owner, cost(t));
	kw_owner_put(t->owner);
	kw_gauge_sub(tables, 1);
	kvfree(t->table);
	kmem_cache_free(heads, t);
}

static void free_all(struct list_head *victims)
{
	struct kw_table *t, *next;

	list_for_each_entry_safe(t, next, victims, lru) {
		table_free(t);
		cond_resched();
	}
}

static void lru_add(struct kw_table *t)
{
	lockdep_assert_held(&cache_lock);
	list_add_tail(&t->lru, &lru);
	list_lru_add_obj(&idle, &t->idle);
	lru_bytes += cost(t);
	if (t->owner) {
		list_add_tail(&t->owner_lru, &t->owner->lru);
		t->owner->lru_bytes += cost(t);
	}
}

/* Of all lists but @idle. */
static void lru_forget(struct kw_table *t)
{
	lockdep_assert_held(&cache_lock);
	list_del_init(&t->lru);
	lru_bytes -= cost(t);
	if (t->owner) {
		list_del_init(&t->owner_lru);
		t->owner->lru_bytes -= cost(t);
	}
}

static void lru_del(struct kw_table *t)
{
	list_lru_del_obj(&idle, &t->idle);
	lru_forget(t);
}

/* The least recently used of one owner, or of all (NULL). */
static struct kw_table *oldest(struct kw_owner *owner)
{
	lockdep_assert_held(&cache_lock);
	if (owner)
		return list_first_entry_or_null(&owner->lru, struct kw_table,
						owner_lru);
	return list_first_entry_or_null(&lru, struct kw_table, lru);
}

/* Out of the cache, where nobody has found it. */
static void take_out(struct kw_table *t, struct list_head *victims)
{
	lockdep_assert_held(&cache_lock);
	hlist_del_init(&t->node);
	list_add(&t->lru, victims);
	kw_count(table_evictions);
}

/* Take what oldest() says out of the cache until @bytes are found. */
static size_t evict(size_t bytes, struct kw_owner *owner,
		    struct list_head *victims)
{
	struct kw_table *t;
	size_t found = 0;

	while (found < bytes && (t = oldest(owner))) {
		lru_del(t);
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

	lockdep_assert_held(&cache_lock);
	return kw_owner_limit(owner, kw_table_budget, used - min(used, own));
}

/* Make room for @bytes more. Return: false if the tables in use fill the budget. */
static bool charge(struct kw_owner *owner, size_t bytes)
{
	LIST_HEAD(victims);
	size_t evicted = 0;
	bool fits = true;

	spin_lock(&cache_lock);
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
	spin_unlock(&cache_lock);
	free_all(&victims);
	if (!fits)
		kw_count(table_refusals);
	return fits;
}

/* What is left for a table of @owner, if all is evicted that nobody uses. */
static size_t room(const struct kw_owner *owner)
{
	size_t limit = kw_table_budget, used, left;

	spin_lock(&cache_lock);
	used = kw_gauge(table_bytes) - lru_bytes;
	left = limit - min(limit, used);
	if (owner) {
		limit = limit_of(owner);
		used = atomic_long_read(&owner->table_bytes) - owner->lru_bytes;
		left = min(left, limit - min(limit, used));
	}
	spin_unlock(&cache_lock);
	return left;
}

static struct kw_table *table_alloc(const struct kw_identity *id,
				    struct kw_owner *owner)
{
	struct kw_table *t;

	if (!charge(owner, HEAD_COST))
		return NULL;
	t = kmem_cache_alloc_lru(heads, &idle, KW_GFP | __GFP_ZERO);
	if (!t) {
		uncharge(owner, HEAD_COST);
		kw_count_failed_allocation();
		return NULL;
	}
	INIT_LIST_HEAD(&t->idle);
	INIT_LIST_HEAD(&t->lru);
	INIT_LIST_HEAD(&t->owner_lru);
	INIT_HLIST_NODE(&t->node);
	init_completion(&t->done);
	t->id = *id;
	t->refs = 1;
	t->owner = kw_owner_hold(owner);
	kw_gauge_add(tables, 1);
	return t;
}

/* Find the table of @id and take a reference, or put @fresh in its place. */
static struct kw_table *find_or_add(const struct kw_identity *id,
				    struct kw_table *fresh)
{
	struct hlist_head *head = bucket(id);
	struct kw_table *t;

	spin_lock(&cache_lock);
	hlist_for_each_entry(t, head, node) {
		if (memcmp(&t->id, id, sizeof(*id)))
			continue;
		if (!t->refs++)
			lru_del(t);
		goto unlock;
	}
	t = fresh;
	if (t && cache_open)
		hlist_add_head(&t->node, head);
unlock:
	spin_unlock(&cache_lock);
	return t;
}

/* Nobody finds it any more; who has it keeps it. */
static void disown(struct kw_table *t)
{
	spin_lock(&cache_lock);
	if (!hlist_unhashed(&t->node))
		hlist_del_init(&t->node);
	spin_unlock(&cache_lock);
}

void kw_table_put(struct kw_table *t)
{
	bool gone = false;

	if (!t)
		return;
	spin_lock(&cache_lock);
	if (!--t->refs) {
		gone = hlist_unhashed(&t->node);
		if (!gone && !cache_open) {
			hlist_del_init(&t->node);
			gone = true;
		} else if (!gone) {
			lru_add(t);
		}
	}
	spin_unlock(&cache_lock);
	if (gone)
		table_free(t);
}

/**
 * kw_table_share() - take another reference, as kw_table_get() would
 * @t: a table that the caller has a reference to; its file's identity is still @t->id
 *
 * Context: process context.
 * Return: false if kw_table_get() would not find it.
 */
bool kw_table_share(struct kw_table *t)
{
	bool shared;

	spin_lock(&cache_lock);
	shared = !hlist_unhashed(&t->node);
	if (shared)
		t->refs++;
	spin_unlock(&cache_lock);
	return shared;
}

/* Another reference. @t: one that the caller has one to, or NULL */
void kw_table_hold(struct kw_table *t)
{
	if (!t)
		return;
	spin_lock(&cache_lock);
	t->refs++;
	spin_unlock(&cache_lock);
}

/* Errors that are a property of the bytes. */
static bool is_final(int error)
{
	switch (error) {
	case -ENOEXEC:
	case -EINVAL:
	case -ENODATA:
	case -E2BIG:
	case -EFBIG:
		return true;
	}
	return false;
}

/* Fill @t, which the caller made, and wake who waits for it. */
static int fill(struct kw_table *t, struct kw_source *src)
{
	struct kw_built built = {};
	struct kw_identity now = t->id;
	int ret;

	src->room = room(src->owner);
	ret = kw_build(src, &built);
	if (src->file) {
		bool shareable = kw_identity_of(src->file, &now);

		if (memcmp(&now, &t->id, sizeof(now))) {
			kw_count(file_changes);
			ret = -ESTALE;
		}
		/* A writer came; what he writes from now on may go unnoticed. */
		if (!shareable)
			disown(t);
	}
	t->build_id_len = built.build_id_len;
	memcpy(t->build_id, built.build_id, sizeof(t->build_id));
	if (!ret && !charge(t->owner, built.bytes))
		ret = -ENOMEM;
	if (!ret) {
		t->table = built.table;
		t->bytes = built.bytes;
		kw_count(table_builds);
	} else {
		kvfree(built.table);
		kw_count(table_failures);
		if (is_final(ret))
			ret = 0;
	}
	if (ret)
		disown(t);
	t->error = ret;
	complete_all(&t->done);
	return ret;
}

/* Return: 0 when @t is built, -EAGAIN if it will not be, -EINTR, -ETIME. */
static int wait_for(struct kw_table *t, unsigned long deadline)
{
	long time = deadline - jiffies, left;

	/* There may be tens of thousands to look up, and each wait takes a tick. */
	if (time <= 0 && !completion_done(&t->done))
		return -ETIME;
	left = wait_for_completion_killable_timeout(&t->done,
						    clamp_t(long, time, 1, PATIENCE));
	if (left < 0)
		return -EINTR;
	if (!left && time < PATIENCE)
		return -ETIME;
	if (!left) {
		disown(t);
		return -EAGAIN;
	}
	return t->error ? -EAGAIN : 0;
}

static struct kw_table *get(struct kw_source *src,
			    const struct kw_identity *id, bool shareable)
{
	struct kw_table *fresh, *t = NULL;
	int ret;

	if (shareable)
		t = find_or_add(id, NULL);
	if (!t) {
		if (time_after_eq(jiffies, src->deadline))
			return ERR_PTR(-ETIME);
		fresh = table_alloc(id, src->owner);
		if (!fresh)
			return ERR_PTR(-ENOMEM);
		t = shareable ? find_or_add(id, fresh) : fresh;
		if (t == fresh) {
			ret = fill(t, src);
			goto done;
		}
		kw_table_put(fresh);
	}
	ret = wait_for(t, src->deadline);
done:
	if (!ret)
		return t;
	kw_table_put(t);
	return ERR_PTR(ret);
}

/**
 * kw_table_get() - the table of a file
 * @file: open for reading, and mapped by somebody
 * @owner: by whom
 * @deadline: in jiffies: when not to compile it any more, nor to wait for who does
 *
 * Context: process context, sleeps, reads the file.
 * Return: a reference; ERR_PTR(): -EINTR after a fatal signal; -EACCES and the
 *	like if the file is no regular file or cannot be read; -ENOMEM; -ESTALE
 *	if it does not stop changing; -ETIME.
 */
struct kw_table *kw_table_get(struct file *file, struct kw_owner *owner,
			      unsigned long deadline)
{
	struct kw_source src = {
		.file = file,
		.owner = owner,
		.deadline = deadline,
	};
	struct kw_table *t = ERR_PTR(-ESTALE);
	struct kw_identity id;
	bool shareable;
	int tries;

	/* kernel_read() complains about others in the kernel log. */
	if (!S_ISREG(file_inode(file)->i_mode) ||
	    !(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_CAN_READ) ||
	    !file->f_op->read_iter || file->f_op->read)
		return ERR_PTR(-EACCES);
	for (tries = 0; tries < MAX_TRIES; tries++) {
		shareable = kw_identity_of(file, &id);
		src.size = id.size;
		t = get(&src, &id, shareable);
		if (!IS_ERR(t))
			break;
		if (PTR_ERR(t) != -EAGAIN && PTR_ERR(t) != -ESTALE)
			break;
	}
	return t;
}

/* The same for the vDSO: the bytes are the kernel's own, and never change. */
struct kw_table *kw_table_get_vdso(const struct vdso_image *image)
{
	struct kw_source src = {
		.mem = image->data,
		.size = image->size,
		.deadline = kw_no_deadline(),
	};
	struct kw_identity id = {
		.ino = (uintptr_t)image,
		.size = image->size,
	};

	return get(&src, &id, true);
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
	if (!spin_trylock(&cache_lock))
		return LRU_SKIP;
	list_lru_isolate(list, item);
	lru_forget(t);
	take_out(t, &found->victims);
	found->bytes += cost(t);
	spin_unlock(&cache_lock);
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

/* There is a consumer: what is built stays. */
void kw_tables_open(void)
{
	spin_lock(&cache_lock);
	cache_open = true;
	spin_unlock(&cache_lock);
}

/* There is none any more: what nobody uses goes, the rest with its last user. */
void kw_tables_close(void)
{
	LIST_HEAD(victims);
	size_t found;

	do {
		spin_lock(&cache_lock);
		cache_open = false;
		found = evict(EVICT_BATCH, NULL, &victims);
		spin_unlock(&cache_lock);
		free_all(&victims);
		INIT_LIST_HEAD(&victims);
	} while (found);
}

int __init kw_tables_init(void)
{
	heads = KMEM_CACHE(kw_table, SLAB_ACCOUNT);
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

void kw_tables_exit(void)
{
	shrinker_free(shrinker);
	kw_tables_close();
	WARN_ON(kw_gauge(tables));
	list_lru_destroy(&idle);
	kmem_cache_destroy(heads);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cache of tables: a hash by file identity. A table enters it when it is complete,
 * so no task waits for another one to compile. If two tasks need the same new table at
 * the same time, each compiles it, and one of the two tables is dropped.
 *
 * A table is charged to the memory cgroup of the process that maps the file and to its user,
 * as long as only their processes use it. When a process of others needs it, the cache makes
 * a copy that no cgroup is charged for, and that counts for all users together if it is
 * another user's. So nobody pays for what others use; root, who may have all, does.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/vdso.h>
#include "budget.h"
#include "build.h"
#include "cache.h"
#include "owner.h"
#include "stats.h"
#include "table.h"
#include "times.h"

/* Files mapped executable on a large system: some thousands. A hash of 8 MiB is large enough. */
#define CACHE_LEAST_BITS	12
#define CACHE_MOST_BITS		20
/* A user can map files without unwind information until the budget is full. On average, then: */
#define TABLES_PER_PLACE	8
/* How many tables that the budget refused are remembered: a busy user's libraries. */
#define REFUSED_BITS	8

static unsigned int cache_bits __ro_after_init;
/* Users choose what a file's identity is, and shall not choose places. */
static u32 seed __ro_after_init;

/* Under kw_cache_lock: */
static struct hlist_head *cache;
/*
 * What the budget refused last, in each place of the hash, by its file's identity. Each event of
 * a process asks again for all tables that it lacks: 2,000 mappings of one refused file took five
 * minutes. An identity that is not one (the file is open for writing) can only delay a table.
 */
static struct {
	struct kw_identity id;
	size_t bytes;
} refused[1 << REFUSED_BITS];

static u32 hash(const struct kw_identity *id, unsigned int bits)
{
	return hash_32(jhash2((const u32 *)id, sizeof(*id) / 4, seed), bits);
}

static struct hlist_head *bucket(const struct kw_identity *id)
{
	return &cache[hash(id, cache_bits)];
}

/* Return: the table of @id, without a reference; NULL if there is none. */
static struct kw_table *look_up(const struct kw_identity *id)
{
	struct kw_table *t;

	lockdep_assert_held(&kw_cache_lock);
	hlist_for_each_entry(t, bucket(id), node)
		if (!memcmp(&t->id, id, sizeof(*id)))
			return t;
	return NULL;
}

static struct kw_table *find(const struct kw_identity *id)
{
	struct kw_table *t;

	spin_lock(&kw_cache_lock);
	t = look_up(id);
	if (t && atomic_long_inc_return(&t->refs) == 1)
		kw_idle_del(t);
	spin_unlock(&kw_cache_lock);
	return t;
}

void kw_table_put(struct kw_table *t)
{
	bool gone;

	if (!t || atomic_long_add_unless(&t->refs, -1, 1))
		return;
	spin_lock(&kw_cache_lock);
	if (!atomic_long_dec_and_test(&t->refs)) {
		spin_unlock(&kw_cache_lock);
		return;
	}
	/*
	 * What the last process of a cgroup, of a container, had does not stay as idle. Nor
	 * does a table after the last consumer has gone: evict_idle() frees those of before.
	 */
	gone = hlist_unhashed(&t->node) || !kw_gauge(consumers) ||
	       !kw_memcg_is_populated(t->memcg);
	if (gone)
		hlist_del_init(&t->node);
	else
		kw_idle_add(t);
	spin_unlock(&kw_cache_lock);
	if (gone)
		kw_table_free(t);
}

/*
 * Put @fresh into the cache, in the place of @old unless that is NULL.
 * Return: @fresh; or, if another task has added a table meanwhile, that one, with a
 * reference; then @fresh is freed.
 */
static struct kw_table *add(struct kw_table *fresh, const struct kw_table *old)
{
	struct kw_table *t;

	spin_lock(&kw_cache_lock);
	t = look_up(&fresh->id);
	if (t && t == old) {
		/* Its users keep it. It is not idle: the caller has a reference. */
		hlist_del_init(&t->node);
		t = NULL;
	}
	if (t && atomic_long_inc_return(&t->refs) == 1)
		kw_idle_del(t);
	if (!t && kw_gauge(consumers))
		hlist_add_head(&fresh->node, bucket(&fresh->id));
	spin_unlock(&kw_cache_lock);
	if (!t)
		return fresh;
	kw_table_free(fresh);
	return t;
}

/* Copy @t, charged to no cgroup. Return: NULL if there is no memory. */
static struct kw_table *copy(const struct kw_table *t, struct kw_owner *owner)
{
	struct kw_table *shared = kw_table_alloc(&t->id, owner, NULL);

	if (!shared)
		return NULL;
	shared->build_id_len = t->build_id_len;
	memcpy(shared->build_id, t->build_id, sizeof(t->build_id));
	if (!t->table)
		return shared;
	if (!kw_table_charge(shared, t->bytes))
		goto free;
	shared->table = kw_alloc(t->bytes, KW_GFP & ~__GFP_ACCOUNT);
	if (!shared->table)
		goto free;
	kw_build_copy(shared->table, t->table, t->bytes);
	return shared;

free:
	kw_table_free(shared);
	return NULL;
}

/* Whether @t is charged to another cgroup than the payer's, or to another user but root. */
static bool is_of_others(const struct kw_table *t, const struct kw_payer *payer)
{
	return (t->memcg && t->memcg != payer->memcg) ||
	       (t->owner && t->owner != payer->owner && t->owner != &kw_everyone &&
		!uid_eq(t->owner->uid, GLOBAL_ROOT_UID));
}

/*
 * A process of a second cgroup, or user, needs @t, to which the caller has a reference. Put
 * a copy in its place that none is charged for. Return: a reference to the copy, in exchange
 * for that to @t; @t if there is no memory for a copy.
 */
static struct kw_table *share(struct kw_table *t, const struct kw_payer *payer)
{
	struct kw_owner *owner = t->owner == payer->owner ? payer->owner : &kw_everyone;
	struct kw_table *shared;

	/* A copy that cannot fit must not evict idle tables. */
	if (kw_budget_room(owner) < KW_HEAD_COST + t->bytes)
		return t;
	shared = copy(t, owner);
	if (!shared)
		return t;
	kw_count(table_copies);
	shared = add(shared, t);
	kw_table_put(t);
	return shared;
}

/* The budget has no room for a table of @bytes. */
static void remember_refusal(const struct kw_identity *id, size_t bytes)
{
	u32 place = hash(id, REFUSED_BITS);

	spin_lock(&kw_cache_lock);
	refused[place].id = *id;
	refused[place].bytes = bytes;
	spin_unlock(&kw_cache_lock);
}

/* Whether a table is known to have more bytes than @room. */
static bool is_refused(const struct kw_identity *id, size_t room)
{
	u32 place = hash(id, REFUSED_BITS);
	bool ret;

	spin_lock(&kw_cache_lock);
	ret = !memcmp(&refused[place].id, id, sizeof(*id)) && refused[place].bytes > room;
	spin_unlock(&kw_cache_lock);
	return ret;
}

/* Compile @t, which no other task can find yet, and charge it. */
static int compile(struct kw_table *t, const struct kw_source *src)
{
	int ret = kw_build(src, t);

	if (!ret && !kw_table_charge(t, t->table->bytes)) {
		remember_refusal(&t->id, t->table->bytes);
		ret = -ENOMEM;
	}
	if (ret)
		kw_count(table_failures);
	else
		kw_count(table_builds);
	return ret;
}

/*
 * Return: a new table, which is not in the cache yet, and is empty if the bytes give none;
 * ERR_PTR().
 */
static struct kw_table *make(struct kw_source *src, const struct kw_identity *id,
			     struct mem_cgroup *memcg)
{
	struct kw_table *t = kw_table_alloc(id, src->owner, memcg);
	int ret = -ENOMEM;

	if (!t)
		return ERR_PTR(ret);
	if (is_refused(id, kw_budget_room(src->owner)))
		kw_count(table_refusals);
	else
		ret = compile(t, src);
	if (!ret || kw_build_is_final(ret))
		return t;
	kw_table_free(t);
	return ERR_PTR(ret);
}

/* One attempt. Return: as kw_table_get(); ERR_PTR(-ESTALE) if the file has changed. */
static struct kw_table *get(struct kw_source *src, const struct kw_payer *payer)
{
	struct kw_identity id, now;
	struct kw_table *t = NULL;
	bool shareable = kw_identity_of(src->file, &id);
	int stop;

	if (shareable)
		t = find(&id);
	stop = t ? 0 : kw_build_stops(src);
	if (stop)
		return ERR_PTR(stop);
	if (!t) {
		src->size = id.size;
		t = make(src, &id, payer->memcg);
		if (IS_ERR(t))
			return t;
		/* If the file was opened for writing, later changes may go unnoticed. */
		shareable &= kw_identity_of(src->file, &now);
		if (memcmp(&now, &id, sizeof(id))) {
			kw_count(file_changes);
			kw_table_free(t);
			return ERR_PTR(-ESTALE);
		}
		t->doubtful = !shareable;
		if (shareable)
			t = add(t, NULL);
	}
	return is_of_others(t, payer) ? share(t, payer) : t;
}

/*
 * Find or compile the table of @file. The file is open for reading and mapped by the
 * process that pays. Compiling must end before @deadline, in jiffies.
 * Context: process context, sleeps, reads the file; between kw_payer_begin() and
 * kw_payer_end().
 * Return: a reference; ERR_PTR(): -EINTR after a fatal signal; -EACCES, -EIO if the file is not a
 * regular file or cannot be read; -ENOMEM; -ESTALE if the file keeps changing; -ETIME.
 */
struct kw_table *kw_table_get(struct file *file, const struct kw_payer *payer,
			      unsigned long deadline)
{
	struct kw_source src = {
		.file = file,
		.owner = payer->owner,
		.deadline = deadline,
	};
	struct kw_table *t = ERR_PTR(-ESTALE);
	int tries;

	/* With other files, kernel_read() prints a warning. */
	if (!S_ISREG(file_inode(file)->i_mode) ||
	    !(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_CAN_READ) ||
	    !file->f_op->read_iter || file->f_op->read)
		return ERR_PTR(-EACCES);
	for (tries = 0; tries < KW_COMPILE_TRIES && t == ERR_PTR(-ESTALE); tries++)
		t = get(&src, payer);
	return t;
}

/* The same for the vDSO, whose bytes are the kernel's and never change. */
struct kw_table *kw_table_get_vdso(const struct vdso_image *image)
{
	struct kw_source src = {
		.mem = image->data,
		.size = image->size,
		.deadline = jiffies + MAX_JIFFY_OFFSET,
	};
	struct kw_identity id = {
		.ino = (uintptr_t)image,
		.size = image->size,
	};
	struct kw_table *t = find(&id);

	if (t)
		return t;
	t = make(&src, &id, NULL);
	return IS_ERR(t) ? t : add(t, NULL);
}

int __init kw_cache_init(void)
{
	unsigned long most = kw_table_budget / KW_HEAD_COST / TABLES_PER_PLACE;

	cache_bits = clamp(order_base_2(most), CACHE_LEAST_BITS, CACHE_MOST_BITS);
	cache = kvcalloc(1ul << cache_bits, sizeof(*cache), GFP_KERNEL);
	seed = get_random_u32();
	return cache ? 0 : -ENOMEM;
}

void kw_cache_exit(void)
{
	kvfree(cache);
}

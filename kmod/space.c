// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The hash of covered address spaces: which are in it, and for how long. How one of
 * them follows its mappings is in coverage.c.
 *
 * The hash's lock is raw, as hooks take it with preemption off; only process
 * context takes it, so that interrupts may stay on. Walks do not take it, nor do
 * hooks for an mm that nobody covers.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <kunwind/trace.h>
#include "owner.h"
#include "snapshot.h"
#include "space.h"
#include "spares.h"
#include "stats.h"
#include "wanted.h"

/* Processes of a busy machine: thousands. */
#define HASH_BITS	12
static DEFINE_RAW_SPINLOCK(spaces_lock);
static struct hlist_head spaces[1 << HASH_BITS];
static struct kmem_cache *cache;

/*
 * Of the numbers of spaces. It begins with the nanoseconds since boot when the
 * module is loaded: making a space takes longer than one, so that no number comes
 * again when the module is loaded again.
 */
static atomic64_t last_number;
/* Of the numbers of dumps. */
static atomic64_t last_dump;

static struct hlist_head *bucket(const struct mm_struct *mm)
{
	return &spaces[hash_ptr(mm, HASH_BITS)];
}

/* Context: any, under rcu_read_lock(). */
struct kw_space *kw_space_find(const struct mm_struct *mm)
{
	struct kw_space *space;

	hlist_for_each_entry_rcu(space, bucket(mm), node)
		if (space->mm == mm)
			return space;
	return NULL;
}

/* Return: a space without an mm; NULL for want of memory. */
struct kw_space *kw_space_alloc(void)
{
	struct kw_space *space;
	int i;

	space = kmem_cache_zalloc(cache, KW_GFP);
	if (!space) {
		kw_count_failed_allocation();
		return NULL;
	}
	raw_spin_lock_init(&space->lock);
	mutex_init(&space->publishing);
	refcount_set(&space->refs, 1);
	for (i = 0; i < KW_SLOTS; i++)
		space->slots[i].space = space;
	return space;
}

static void space_free(struct rcu_head *rcu)
{
	kmem_cache_free(cache, container_of(rcu, struct kw_space, rcu));
}

void kw_space_put(struct kw_space *space)
{
	if (!refcount_dec_and_test(&space->refs))
		return;
	kw_snapshot_put(rcu_replace_pointer(space->snap, NULL, true));
	if (space->mm)
		kw_gauge_sub(spaces, 1);
	call_rcu(&space->rcu, space_free);
}

static void unhash(struct kw_space *space)
{
	lockdep_assert_held(&spaces_lock);
	hlist_del_init_rcu(&space->node);
}

/* Give up the hash's reference to a space that has been taken out of it. */
static void drop(struct kw_space *space)
{
	trace_kunwind_exit(space->number);
	kw_space_put(space);
}

/* Put @space, new, into the hash, with a reference of the hash's own. */
static void add(struct kw_space *space, struct mm_struct *mm, pid_t pid, kuid_t uid)
{
	lockdep_assert_held(&spaces_lock);
	space->mm = mm;
	space->pid = pid;
	space->uid = uid;
	space->number = atomic64_inc_return(&last_number);
	/* What is announced from now on, a dump that has begun need not tell. */
	atomic64_set(&space->told, atomic64_read(&last_dump));
	kw_gauge_add(spaces, 1);
	refcount_inc(&space->refs);
	hlist_add_head_rcu(&space->node, bucket(mm));
}

/* The space of @mm, if it has one: with a reference, and no lock is taken. */
static struct kw_space *get_existing(const struct mm_struct *mm)
{
	struct kw_space *space;

	rcu_read_lock();
	space = kw_space_find(mm);
	if (space && !refcount_inc_not_zero(&space->refs))
		space = NULL;
	rcu_read_unlock();
	return space;
}

/* Find @mm's space, or add @fresh if @mm is to be covered. */
static struct kw_space *find_or_add(struct mm_struct *mm, pid_t pid, kuid_t uid,
				    struct kw_space *fresh, bool hold)
{
	struct kw_space *space;

	raw_spin_lock(&spaces_lock);
	space = kw_space_find(mm);
	if (space) {
		refcount_inc(&space->refs);
	} else if (hold || kw_is_wanted(uid)) {
		space = fresh;
		add(space, mm, pid, uid);
	}
	if (space && hold)
		space->consumers++;
	raw_spin_unlock(&spaces_lock);
	if (space != fresh)
		kw_space_put(fresh);
	return space;
}

/*
 * The space of an mm that has users, made if it is to be covered; @pid, a process of
 * @uid, has the mm.
 * Context: process context, sleeps.
 * Return: a reference; NULL if nobody wants @mm covered; ERR_PTR(-ENOMEM).
 */
struct kw_space *kw_space_obtain(struct mm_struct *mm, pid_t pid, kuid_t uid)
{
	struct kw_space *space = get_existing(mm);

	if (space || !kw_is_wanted(uid))
		return space;
	space = kw_space_alloc();
	return space ? find_or_add(mm, pid, uid, space, false) : ERR_PTR(-ENOMEM);
}

/* The same for a consumer of current->mm alone, until kw_space_unhold(). */
struct kw_space *kw_space_hold(struct mm_struct *mm)
{
	struct kw_space *space = kw_space_alloc();

	if (!space)
		return ERR_PTR(-ENOMEM);
	return find_or_add(mm, current->tgid, current_uid(), space, true);
}

/*
 * The same for hooks, without an allocation: preemption may be off. @task has the mm, and
 * is current, or does not run yet.
 * Return: a reference; NULL if nobody wants @mm covered, or no spare is left: then
 * walks say NOT_COVERED until the process maps something.
 */
struct kw_space *kw_space_obtain_spare(struct mm_struct *mm,
				       const struct task_struct *task)
{
	struct kw_space *space = get_existing(mm);
	kuid_t uid = task_uid(task);

	if (space || !kw_is_wanted(uid))
		return space;
	raw_spin_lock(&spaces_lock);
	space = kw_space_find(mm);
	if (space) {
		refcount_inc(&space->refs);
	} else if (kw_is_wanted(uid)) {
		space = kw_spare_take();
		if (space)
			add(space, mm, task->tgid, uid);
	}
	raw_spin_unlock(&spaces_lock);
	return space;
}

void kw_space_unhold(struct kw_space *space)
{
	bool last = false;

	raw_spin_lock(&spaces_lock);
	if (!--space->consumers && !kw_is_wanted(space->uid) &&
	    !hlist_unhashed(&space->node)) {
		unhash(space);
		last = true;
	}
	raw_spin_unlock(&spaces_lock);
	if (last)
		drop(space);
	kw_space_put(space);
}

/* The exit_mmap() hook: the address of @mm may soon be another one's. */
void kw_space_exit(const struct mm_struct *mm)
{
	struct kw_space *space;

	/* Nobody can add it meanwhile: it has no users any more. */
	rcu_read_lock();
	space = kw_space_find(mm);
	rcu_read_unlock();
	if (!space)
		return;
	raw_spin_lock(&spaces_lock);
	space = kw_space_find(mm);
	if (space)
		unhash(space);
	raw_spin_unlock(&spaces_lock);
	if (space)
		drop(space);
}

/* Drop one of a bucket's spaces that nobody wants any more. */
static bool prune(struct hlist_head *head)
{
	struct kw_space *space, *victim = NULL;

	raw_spin_lock(&spaces_lock);
	hlist_for_each_entry(space, head, node) {
		if (!space->consumers && !kw_is_wanted(space->uid)) {
			victim = space;
			unhash(victim);
			break;
		}
	}
	raw_spin_unlock(&spaces_lock);
	if (victim)
		drop(victim);
	return victim;
}

/*
 * Drop what nobody wants any more. A space that is added meanwhile is still wanted: that
 * is looked at under spaces_lock.
 */
void kw_spaces_prune(void)
{
	unsigned int i;

	if (!kw_is_any_wanted())
		kw_spares_free();
	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		while (prune(&spaces[i]))
			;
}

/* Begin a dump. Return: its number; spaces that are made from now on are announced in full. */
s64 kw_spaces_dump(void)
{
	return atomic64_inc_return(&last_dump);
}

/*
 * A space that a dump has not told of. @bucket says where to look first, and then where
 * it was found. Return: a reference; NULL if there is none from there on.
 */
struct kw_space *kw_spaces_untold(s64 dump, unsigned int *bucket)
{
	struct kw_space *space;

	for (; *bucket < ARRAY_SIZE(spaces); (*bucket)++) {
		raw_spin_lock(&spaces_lock);
		hlist_for_each_entry(space, &spaces[*bucket], node) {
			if (atomic64_read(&space->told) >= dump)
				continue;
			refcount_inc(&space->refs);
			raw_spin_unlock(&spaces_lock);
			return space;
		}
		raw_spin_unlock(&spaces_lock);
		cond_resched();
	}
	return NULL;
}

int __init kw_spaces_init(void)
{
	atomic64_set(&last_number, ktime_get_boottime_ns());
	cache = KMEM_CACHE(kw_space, 0);
	return cache ? 0 : -ENOMEM;
}

/* There is no consumer: all spaces are gone, except what RCU has yet to free. */
void kw_spaces_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(cache);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The hash of covered address spaces: which ones are in it, and for how long. coverage.c
 * has how one of them follows its mappings.
 *
 * The hash's lock is raw, as hooks take it with preemption off. Only process context
 * takes it, so interrupts may stay on. Walks do not take it. Hooks do not take it for an
 * mm that no consumer wants covered.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <kunwind/trace.h>
#include "consumer.h"
#include "owner.h"
#include "snapshot.h"
#include "space.h"
#include "stats.h"

/* Processes of a busy machine: thousands. */
#define HASH_BITS	12
static DEFINE_RAW_SPINLOCK(spaces_lock);
static struct hlist_head spaces[1 << HASH_BITS];

/*
 * The last number of a space. When the module is loaded, it starts with the nanoseconds
 * since boot. Making a space takes longer than a nanosecond, so no number comes again if
 * the module is reloaded.
 */
static atomic64_t last_number;
/* The last number of a dump. */
static atomic64_t last_dump;

static struct hlist_head *bucket(const struct mm_struct *mm)
{
	return &spaces[hash_ptr(mm, HASH_BITS)];
}

/*
 * Return: without a reference; NULL if @mm has no space. Context: any, with preemption off, or
 * under rcu_read_lock().
 */
struct kw_space *kw_space_find(const struct mm_struct *mm)
{
	struct kw_space *space;

	hlist_for_each_entry_rcu(space, bucket(mm), node)
		if (space->mm == mm)
			return space;
	return NULL;
}

/*
 * No cgroup is charged for a space: hooks give one that another process has had made, and each
 * process costs the kernel thirty times as much. Return: a space without an mm, with a reference;
 * NULL if there is no memory.
 */
struct kw_space *kw_space_alloc(void)
{
	struct kw_space *space;

	space = kw_alloc(sizeof(*space), (KW_GFP | __GFP_ZERO) & ~__GFP_ACCOUNT);
	if (!space)
		return NULL;
	raw_spin_lock_init(&space->lock);
	mutex_init(&space->publishing);
	refcount_set(&space->refs, 1);
	return space;
}

static void space_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct kw_space, rcu));
}

void kw_space_put(struct kw_space *space)
{
	if (!refcount_dec_and_test(&space->refs))
		return;
	kw_snapshot_put(rcu_replace_pointer(space->snap, NULL, true));
	if (space->mm)
		kw_gauge_sub(spaces, 1);
	/* Not kfree_rcu(): a walk may hold the lock of a run queue or of timers. */
	call_rcu(&space->rcu, space_free);
}

/* Return: false if another task has done so. */
static bool unhash(struct kw_space *space)
{
	lockdep_assert_held(&spaces_lock);
	if (hlist_unhashed(&space->node))
		return false;
	hlist_del_init_rcu(&space->node);
	return true;
}

/* Give up the hash's reference to a space that the caller has removed from the hash. */
static void drop(struct kw_space *space)
{
	trace_kunwind_exit(space->number);
	kw_space_put(space);
}

/* Add the new @space to the hash, which takes a reference of its own. */
static void add(struct kw_space *space, struct mm_struct *mm, pid_t pid, kuid_t uid)
{
	lockdep_assert_held(&spaces_lock);
	space->mm = mm;
	space->pid = pid;
	space->uid = uid;
	space->number = atomic64_inc_return(&last_number);
	/* All its mappings will be announced, so a running dump need not report it. */
	atomic64_set(&space->told, atomic64_read(&last_dump));
	kw_gauge_add(spaces, 1);
	refcount_inc(&space->refs);
	hlist_add_head_rcu(&space->node, bucket(mm));
}

/*
 * The space of @mm, with a reference, or NULL. Takes no lock. Its process may be another user's by
 * now, @uid's: a consumer of that user keeps the space when one of all processes goes. What a
 * vfork() child is, which has another @pid, says nothing of its parent.
 */
static struct kw_space *get_existing(const struct mm_struct *mm, pid_t pid, kuid_t uid)
{
	struct kw_space *space;

	rcu_read_lock();
	space = kw_space_find(mm);
	if (space && !refcount_inc_not_zero(&space->refs))
		space = NULL;
	if (space && space->pid == pid)
		WRITE_ONCE(space->uid, uid);
	rcu_read_unlock();
	return space;
}

/*
 * Find @mm's space, or add @fresh if @mm is to be covered; a spare if @fresh is NULL. Consumes
 * @fresh. Return: a reference, or NULL.
 */
static struct kw_space *find_or_add(struct mm_struct *mm, pid_t pid, kuid_t uid,
				    struct kw_space *fresh, bool hold)
{
	struct kw_space *space;

	raw_spin_lock(&spaces_lock);
	space = kw_space_find(mm);
	if (space) {
		refcount_inc(&space->refs);
	} else if (hold || kw_is_wanted(uid)) {
		space = fresh ?: kw_spare_take();
		if (space)
			add(space, mm, pid, uid);
	}
	if (space && hold)
		space->consumers++;
	raw_spin_unlock(&spaces_lock);
	if (fresh && space != fresh)
		kw_space_put(fresh);
	/*
	 * A caller need not hold the users of @mm. If the last one has gone meanwhile, either the
	 * exit_mmap() hook finds the space, or this finds that it came too late. Pairs with
	 * mmput().
	 */
	smp_mb();
	if (!atomic_read(&mm->mm_users))
		kw_space_exit(mm);
	return space;
}

/*
 * Find the space of @mm, or make one if a consumer wants @mm covered. @mm belongs
 * to the process @pid of the user @uid.
 * Context: process context, sleeps. If @spare: of a hook, where preemption may be off.
 * Return: a reference; NULL if no consumer wants @mm covered, if there is no memory, or no spare.
 * Then walks say NOT_COVERED until the process maps something.
 */
struct kw_space *kw_space_obtain(struct mm_struct *mm, pid_t pid, kuid_t uid, bool spare)
{
	struct kw_space *space = get_existing(mm, pid, uid);

	if (space || !kw_is_wanted(uid))
		return space;
	if (!spare) {
		space = kw_space_alloc();
		if (!space)
			return NULL;
	}
	return find_or_add(mm, pid, uid, space, false);
}

/*
 * The same for a consumer of @mm alone, until kw_space_unhold(). Return: a reference; NULL if there
 * is no memory.
 */
struct kw_space *kw_space_hold(struct mm_struct *mm, pid_t pid, kuid_t uid)
{
	struct kw_space *space = kw_space_alloc();

	return space ? find_or_add(mm, pid, uid, space, true) : NULL;
}

void kw_space_unhold(struct kw_space *space)
{
	bool last;

	raw_spin_lock(&spaces_lock);
	last = !--space->consumers && !kw_is_wanted(READ_ONCE(space->uid)) && unhash(space);
	raw_spin_unlock(&spaces_lock);
	if (last)
		drop(space);
	kw_space_put(space);
}

/* A consumer of one process keeps its space. The tables go now. */
static void drop_snapshot(struct kw_space *space)
{
	struct kw_snapshot *snap;

	raw_spin_lock(&space->lock);
	snap = rcu_replace_pointer(space->snap, NULL, lockdep_is_held(&space->lock));
	/* A tracer that still takes one shall not publish it. */
	WRITE_ONCE(space->events, space->events + 1);
	raw_spin_unlock(&space->lock);
	kw_snapshot_put(snap);
}

/* @mm has no users any more: soon the kernel may reuse its address for another one. */
void kw_space_exit(const struct mm_struct *mm)
{
	struct kw_space *space;
	bool found = false;

	/* What is added from now on finds that @mm has no users any more. */
	rcu_read_lock();
	space = kw_space_find(mm);
	if (space) {
		raw_spin_lock(&spaces_lock);
		found = unhash(space);
		raw_spin_unlock(&spaces_lock);
	}
	rcu_read_unlock();
	if (!found)
		return;
	drop_snapshot(space);
	drop(space);
}

/* Drop one space of a bucket that no consumer wants. Return: whether there was one. */
static bool prune(struct hlist_head *head)
{
	struct kw_space *space, *victim = NULL;

	raw_spin_lock(&spaces_lock);
	hlist_for_each_entry(space, head, node) {
		if (!space->consumers && !kw_is_wanted(READ_ONCE(space->uid))) {
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
 * Wait until no space is dropped because it was not wanted before now. After that, a new consumer
 * finds the spaces that stay, and adds the others.
 */
void kw_spaces_settle(void)
{
	raw_spin_lock(&spaces_lock);
	raw_spin_unlock(&spaces_lock);
}

/*
 * Drop all spaces that no consumer wants any more. A space that is added meanwhile is
 * wanted: the functions that add a space check that under spaces_lock. Hooks must not go before
 * that: the space of an mm that exits without them would be another mm's.
 */
void kw_spaces_prune(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		while (prune(&spaces[i]))
			;
		cond_resched();
	}
}

/* Start a dump. Return: its number. Spaces that are made from now on are announced in full. */
s64 kw_spaces_dump(void)
{
	return atomic64_inc_return(&last_dump);
}

/*
 * Find a space that a dump has not reported yet, from *@bucket on, and set *@bucket to
 * where it is. Return: a reference; NULL if there is none.
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

void __init kw_spaces_init(void)
{
	atomic64_set(&last_number, ktime_get_boottime_ns());
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The hash of covered address spaces: who is in it, and for how long. How one of
 * them catches up with its mappings is in catchup.c.
 *
 * The hash's lock is raw, as it is taken in ftrace callbacks with preemption
 * off; only process context takes it, so that interrupts may stay on. Walks
 * do not take it.
 */
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
#include "stats.h"

/* Processes of a busy machine: thousands. */
#define HASH_BITS	12

static DEFINE_RAW_SPINLOCK(spaces_lock);
static struct hlist_head spaces[1 << HASH_BITS];
/* Every mm is to be covered; written under spaces_lock. */
static bool cover_system;

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

static struct kw_space *space_alloc(struct mm_struct *mm, pid_t pid, gfp_t gfp)
{
	struct kw_space *space;

	space = kzalloc(sizeof(*space), gfp | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!space) {
		kw_count_failed_allocation();
		return NULL;
	}
	space->mm = mm;
	space->number = atomic64_inc_return(&last_number);
	space->pid = pid;
	/* What is announced from now on, a dump that has begun need not tell. */
	atomic64_set(&space->told, atomic64_read(&last_dump));
	/* Not even caught up with what was there before all events. */
	atomic64_set(&space->done, -1);
	atomic64_set(&space->stale, -1);
	mutex_init(&space->lock);
	init_waitqueue_head(&space->unlocked);
	raw_spin_lock_init(&space->snap_lock);
	refcount_set(&space->refs, 1);
	kw_gauge_add(spaces, 1);
	return space;
}

void kw_space_put(struct kw_space *space)
{
	if (!refcount_dec_and_test(&space->refs))
		return;
	kw_snapshot_put(rcu_replace_pointer(space->snap, NULL, true));
	kw_gauge_sub(spaces, 1);
	kfree_rcu(space, rcu);
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

/* Find @mm's space, or add @fresh if somebody is to cover @mm. */
static struct kw_space *find_or_add(struct mm_struct *mm, struct kw_space *fresh,
				    bool hold)
{
	struct kw_space *space;

	raw_spin_lock(&spaces_lock);
	space = kw_space_find(mm);
	if (!space && fresh && (cover_system || hold)) {
		space = fresh;
		/* The hash's own. */
		refcount_inc(&space->refs);
		hlist_add_head_rcu(&space->node, bucket(mm));
	} else if (space) {
		refcount_inc(&space->refs);
	}
	if (space && hold)
		space->consumers++;
	raw_spin_unlock(&spaces_lock);
	return space;
}

static struct kw_space *obtain(struct mm_struct *mm, pid_t pid, gfp_t gfp,
			       bool hold)
{
	struct kw_space *fresh, *space;

	space = find_or_add(mm, NULL, hold);
	if (space || !(hold || kw_spaces_system()))
		return space;
	fresh = space_alloc(mm, pid, gfp);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	space = find_or_add(mm, fresh, hold);
	if (space != fresh)
		kw_space_put(fresh);
	return space;
}

/**
 * kw_space_obtain() - the space of an mm, made if it is to be covered
 * @mm: an mm that has users, so that it cannot exit meanwhile
 * @pid: a process that has it
 * @gfp: GFP_ATOMIC or KW_GFP
 *
 * Return: a reference; NULL if nobody wants @mm covered; ERR_PTR(-ENOMEM).
 */
struct kw_space *kw_space_obtain(struct mm_struct *mm, pid_t pid, gfp_t gfp)
{
	return obtain(mm, pid, gfp, false);
}

/* The same for a consumer of current->mm alone, until kw_space_unhold(). */
struct kw_space *kw_space_hold(struct mm_struct *mm)
{
	return obtain(mm, current->tgid, KW_GFP, true);
}

void kw_space_unhold(struct kw_space *space)
{
	bool last = false;

	raw_spin_lock(&spaces_lock);
	if (!--space->consumers && !cover_system &&
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

	raw_spin_lock(&spaces_lock);
	space = kw_space_find(mm);
	if (space)
		unhash(space);
	raw_spin_unlock(&spaces_lock);
	if (space)
		drop(space);
}

bool kw_spaces_system(void)
{
	return READ_ONCE(cover_system);
}

/* Drop one of a bucket's spaces that no consumer of their own holds. */
static bool prune(struct hlist_head *head)
{
	struct kw_space *space, *victim = NULL;

	raw_spin_lock(&spaces_lock);
	hlist_for_each_entry(space, head, node) {
		if (!space->consumers) {
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

/* Whether every mm is to be covered. If not, those that were for that reason go. */
void kw_spaces_set_system(bool on)
{
	unsigned int i;

	raw_spin_lock(&spaces_lock);
	WRITE_ONCE(cover_system, on);
	raw_spin_unlock(&spaces_lock);
	if (on)
		return;
	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		while (prune(&spaces[i]))
			;
}

/* Begin a dump. Return: its number; who is made from now on is announced in full. */
s64 kw_spaces_dump(void)
{
	return atomic64_inc_return(&last_dump);
}

/* Return: how many spaces @dump has not told of; at most @capacity are in @list. */
static int list_untold(s64 dump, struct kw_space **list, int capacity)
{
	struct kw_space *space;
	int count = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		raw_spin_lock(&spaces_lock);
		hlist_for_each_entry(space, &spaces[i], node) {
			if (atomic64_read(&space->told) >= dump)
				continue;
			if (count < capacity) {
				refcount_inc(&space->refs);
				list[count] = space;
			}
			count++;
		}
		raw_spin_unlock(&spaces_lock);
	}
	return count;
}

/**
 * kw_spaces_untold() - the spaces that a dump has not told of
 * @dump: its number
 * @count: how many
 *
 * Context: process context, sleeps.
 * Return: references, to be freed by kvfree(); ERR_PTR(-ENOMEM).
 */
struct kw_space **kw_spaces_untold(s64 dump, int *count)
{
	struct kw_space **list;
	int capacity, i;

	for (capacity = 1024; ; capacity = *count + *count / 4) {
		list = kvmalloc_array(capacity, sizeof(*list), GFP_KERNEL);
		if (!list)
			return ERR_PTR(-ENOMEM);
		*count = list_untold(dump, list, capacity);
		if (*count <= capacity)
			return list;
		for (i = 0; i < capacity; i++)
			kw_space_put(list[i]);
		kvfree(list);
	}
}

void __init kw_spaces_init(void)
{
	atomic64_set(&last_number, ktime_get_boottime_ns());
}

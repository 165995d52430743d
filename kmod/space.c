// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The hash of covered address spaces, and how one of them catches up with its
 * mapping events.
 *
 * The hash's lock is raw, as it is taken in ftrace callbacks with preemption
 * off; only process context takes it, so that interrupts may stay on. Walks
 * do not take it.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "snapshot.h"
#include "space.h"
#include "stats.h"

/* Processes of a busy machine: thousands. */
#define HASH_BITS	12

static DEFINE_RAW_SPINLOCK(spaces_lock);
static struct hlist_head spaces[1 << HASH_BITS];
/* Every mm is to be covered; written under spaces_lock. */
static bool cover_system;

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

static struct kw_space *space_alloc(struct mm_struct *mm, gfp_t gfp)
{
	struct kw_space *space;

	space = kzalloc(sizeof(*space), gfp | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!space) {
		kw_count(allocation_failures);
		return NULL;
	}
	space->mm = mm;
	mutex_init(&space->lock);
	refcount_set(&space->refs, 1);
	kw_gauge_add(spaces, 1);
	return space;
}

void kw_space_put(struct kw_space *space)
{
	if (!refcount_dec_and_test(&space->refs))
		return;
	kw_snapshot_put(unrcu_pointer(xchg(&space->snap, NULL)));
	kw_gauge_sub(spaces, 1);
	kfree_rcu(space, rcu);
}

static void unhash(struct kw_space *space)
{
	lockdep_assert_held(&spaces_lock);
	hlist_del_init_rcu(&space->node);
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

static struct kw_space *obtain(struct mm_struct *mm, gfp_t gfp, bool hold)
{
	struct kw_space *fresh, *space;

	space = find_or_add(mm, NULL, hold);
	if (space || !(hold || kw_spaces_system()))
		return space;
	fresh = space_alloc(mm, gfp);
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
 * @gfp: GFP_ATOMIC or GFP_KERNEL
 *
 * Return: a reference; NULL if nobody wants @mm covered; ERR_PTR(-ENOMEM).
 */
struct kw_space *kw_space_obtain(struct mm_struct *mm, gfp_t gfp)
{
	return obtain(mm, gfp, false);
}

/* The same for a consumer of @mm alone, until kw_space_unhold(). */
struct kw_space *kw_space_hold(struct mm_struct *mm)
{
	return obtain(mm, GFP_KERNEL, true);
}

void kw_space_unhold(struct kw_space *space)
{
	bool drop = false;

	raw_spin_lock(&spaces_lock);
	if (!--space->consumers && !cover_system &&
	    !hlist_unhashed(&space->node)) {
		unhash(space);
		drop = true;
	}
	raw_spin_unlock(&spaces_lock);
	if (drop)
		kw_space_put(space);
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
		kw_space_put(space);
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
		kw_space_put(victim);
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

/* Context: any, under rcu_read_lock(); look before using the snapshot. */
enum kw_coverage kw_space_coverage(const struct kw_space *space)
{
	s64 wanted = atomic64_read(&space->wanted);
	s64 stale = atomic64_read(&space->stale);
	s64 done;

	/* Pairs with publish(): a snapshot read from now on knows of @done. */
	done = atomic64_read_acquire(&space->done);
	if (stale > done)
		return KW_STALE;
	return wanted > done ? KW_LAGGING : KW_COVERED;
}

static void publish(struct kw_space *space, struct kw_snapshot *snap, s64 begun)
{
	struct kw_snapshot *old;

	lockdep_assert_held(&space->lock);
	old = unrcu_pointer(xchg(&space->snap, RCU_INITIALIZER(snap)));
	atomic64_set_release(&space->done, begun);
	kw_snapshot_put(old);
}

static bool knows_of(const struct kw_space *space, s64 event)
{
	return rcu_access_pointer(space->snap) &&
	       atomic64_read(&space->done) >= event;
}

/**
 * kw_space_catch_up() - make sure that a space's snapshot knows of an event
 * @space: the space
 * @mm: its mm, whose users the caller holds
 * @upto: the event
 *
 * Events are noted under mmap_lock for writing, and the VMAs are listed under
 * mmap_lock for reading: a snapshot whose taking began after an event has the
 * event's mapping. So whoever finds the space behind takes one, or waits for one
 * that somebody else began late enough, and then nobody has to.
 *
 * Context: process context, sleeps; no lock of memory management may be held.
 * Return: 0; -EINTR after a fatal signal; -ENOMEM.
 */
int kw_space_catch_up(struct kw_space *space, struct mm_struct *mm, s64 upto)
{
	struct kw_snapshot *snap;
	s64 begun;
	int ret = 0;

	might_sleep();
	if (knows_of(space, upto))
		return 0;
	if (mutex_lock_killable(&space->lock))
		return -EINTR;
	if (knows_of(space, upto))
		goto unlock;
	begun = atomic64_read(&space->wanted);
	snap = kw_snapshot_take(mm);
	if (IS_ERR(snap)) {
		kw_count(map_failures);
		ret = PTR_ERR(snap);
		goto unlock;
	}
	publish(space, snap, begun);
	kw_count(map_builds);
unlock:
	mutex_unlock(&space->lock);
	return ret;
}

/* Cover an mm, whose users the caller holds, as far as it is mapped now. */
int kw_space_cover(struct mm_struct *mm)
{
	struct kw_space *space = kw_space_obtain(mm, GFP_KERNEL);
	int ret;

	if (IS_ERR_OR_NULL(space))
		return PTR_ERR_OR_ZERO(space);
	ret = kw_space_catch_up(space, mm, atomic64_read(&space->wanted));
	kw_space_put(space);
	return ret;
}

/**
 * kw_space_event() - number a mapping event
 * @space: where
 * @vma: what was mapped, or is about to be moved
 * @start: its first address, after the move
 * @end: the first address behind it
 * @moved: it is moved; @vma does not say where to
 *
 * Context: mmap_lock held for writing, so that the new code cannot run yet;
 *	preemption may be off.
 * Return: the event's number.
 */
s64 kw_space_event(struct kw_space *space, const struct vm_area_struct *vma,
		   u64 start, u64 end, bool moved)
{
	const struct kw_snapshot *snap;
	bool stale;
	s64 event;

	rcu_read_lock();
	snap = rcu_dereference(space->snap);
	stale = snap && (moved ? kw_snapshot_overlaps(snap, start, end) :
				 !kw_snapshot_agrees(snap, vma));
	rcu_read_unlock();
	event = atomic64_inc_return(&space->wanted);
	if (stale)
		atomic64_set(&space->stale, event);
	kw_count(mapping_events);
	return event;
}

/**
 * kw_space_inherit() - a child's mm shares its parent's snapshot
 * @child: the child's space, new
 * @parent: the space of current->mm
 *
 * The child has a copy of the caller's stack, and the return addresses in it are
 * as good in the parent: what another thread of the parent may have mapped or
 * unmapped since the copy was made is not on it.
 *
 * Context: under rcu_read_lock(); preemption may be off.
 * Return: whether that is all that the child needs.
 */
bool kw_space_inherit(struct kw_space *child, const struct kw_space *parent)
{
	enum kw_coverage coverage = kw_space_coverage(parent);
	struct kw_snapshot *snap = rcu_dereference(parent->snap);

	if (coverage == KW_STALE || !snap || !refcount_inc_not_zero(&snap->refs))
		return false;
	/* Somebody who attaches may have been faster. */
	if (unrcu_pointer(cmpxchg(&child->snap, NULL, RCU_INITIALIZER(snap))))
		kw_snapshot_put(snap);
	return coverage == KW_COVERED;
}

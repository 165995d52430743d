// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How a covered address space catches up with its mapping events: which of them its
 * snapshot knows of, who takes the next one, and what a hook does to it at once.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include <kunwind/trace.h>
#include "announce.h"
#include "build.h"
#include "owner.h"
#include "snapshot.h"
#include "space.h"
#include "stats.h"

/*
 * How long a task that has mapped something waits for another one of its process. That
 * one may be reading a file whose server is this process, and this very task.
 */
#define PATIENCE	(10 * HZ)
/*
 * How long who attaches, when he compiles nothing more, goes on with what is compiled
 * already: a user can have thousands of processes with thousands of mappings each.
 */
#define GRACE		(10 * HZ)

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

static struct kw_snapshot *replace(struct kw_space *space,
				   struct kw_snapshot *snap)
{
	return rcu_replace_pointer(space->snap, snap,
				   lockdep_is_held(&space->snap_lock));
}

/* Return: a reference to what is published, or NULL. */
struct kw_snapshot *kw_space_snapshot(struct kw_space *space)
{
	struct kw_snapshot *snap;

	raw_spin_lock(&space->snap_lock);
	snap = rcu_dereference_protected(space->snap,
					 lockdep_is_held(&space->snap_lock));
	if (snap)
		refcount_inc(&snap->refs);
	raw_spin_unlock(&space->snap_lock);
	return snap;
}

/* What a trace says of a mapping, as long as the caller has the snapshot. */
void kw_space_describe(const struct kw_space *space,
		       const struct kw_snapshot *snap, u32 i,
		       struct kunwind_mapping *m)
{
	m->space = space->number;
	m->pid = space->pid;
	m->start = snap->map.mappings[i].start;
	m->end = snap->map.mappings[i].end;
	kw_origin_describe(&snap->origins[i], m);
}

/*
 * Put @snap in the place of @old, to which the caller has a reference. One that
 * left out what others are not to wait for does not count as having caught up, so
 * that the space's own task takes another.
 *
 * Return: false if something was mapped since the snapshot was begun, so that it
 * may have what is no longer there; or if a fork was faster.
 */
static bool publish(struct kw_space *space, struct kw_snapshot *old,
		    struct kw_snapshot *snap, s64 begun)
{
	bool fits;

	lockdep_assert_held(&space->lock);
	raw_spin_lock(&space->snap_lock);
	fits = atomic64_read(&space->wanted) == begun &&
	       rcu_access_pointer(space->snap) == old;
	if (fits) {
		replace(space, snap);
		/* Who fails from now on says so behind this. */
		if (!snap->starved && !snap->late)
			kw_retry_succeeded(&space->retry);
		if (!snap->skipped && !snap->late)
			atomic64_set_release(&space->done, begun);
	}
	raw_spin_unlock(&space->snap_lock);
	if (fits)
		kw_snapshot_put(old);
	return fits;
}

/*
 * The reader of a trace knows of a snapshot's mappings when it is published. If it
 * is not published after all, what is, is announced again.
 */
static bool announce_and_publish(struct kw_space *space, struct kw_snapshot *old,
				 struct kw_snapshot *snap, s64 begun)
{
	struct kw_snapshot *now;

	kw_announce_maps(space, old, snap);
	if (publish(space, old, snap, begun)) {
		kw_announce_unmaps(space, old, snap);
		return true;
	}
	now = kw_space_snapshot(space);
	if (now)
		kw_announce_maps(space, snap, now);
	kw_announce_unmaps(space, snap, now);
	kw_snapshot_put(now);
	return false;
}

static bool knows_of(const struct kw_space *space, s64 event)
{
	return rcu_access_pointer(space->snap) &&
	       atomic64_read(&space->done) >= event;
}

/*
 * Of one that was taken with little patience. Without, the space's own tasks have begun
 * to do better, or already have; or it is in execve(), and has nothing yet.
 */
static bool is_progress(const struct kw_snapshot *snap, const struct kw_snapshot *old)
{
	return snap->map.count > (old ? old->map.count : 0) ||
	       (old && !snap->skipped && !snap->late);
}

/*
 * Take snapshots until nothing was mapped while one was taken. Who maps something has
 * to catch up, and waits for our lock, before he can map more; but tasks that are
 * killed do not, and there may be more and more of them.
 */
static int take_latest(struct kw_space *space, struct mm_struct *mm,
		       const struct kw_patience *patience)
{
	struct kw_patience mine = *patience;
	struct kw_snapshot *old, *snap;
	bool published;
	s64 begun;

	for (;;) {
		begun = atomic64_read(&space->wanted);
		old = kw_space_snapshot(space);
		/*
		 * In the middle of execve(): half of the new program's mappings
		 * would not do for the call's exit, and its own task takes all.
		 */
		if (!patience->own && !old && begun && !READ_ONCE(space->retry.at))
			return 0;
		mine.keeps = atomic64_read(&space->done) >= begun;
		snap = kw_snapshot_take(mm, old, &mine);
		if (IS_ERR(snap)) {
			kw_snapshot_put(old);
			kw_count(map_failures);
			kw_retry_failed(&space->retry);
			return PTR_ERR(snap);
		}
		kw_count(map_builds);
		if (snap->starved || snap->late)
			kw_retry_failed(&space->retry);
		if (!patience->may_hang && !is_progress(snap, old)) {
			kw_snapshot_put(old);
			kw_snapshot_put(snap);
			return 0;
		}
		published = announce_and_publish(space, old, snap, begun);
		kw_snapshot_put(old);
		if (published)
			return 0;
		kw_snapshot_put(snap);
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, patience->deadline)) {
			kw_retry_failed(&space->retry);
			return -ETIMEDOUT;
		}
		cond_resched();
	}
}

/*
 * Take the space's lock, but not after @deadline. Return: 0, -EINTR, -ETIMEDOUT.
 */
int kw_space_lock(struct kw_space *space, unsigned long deadline)
{
	long left = max_t(long, deadline - jiffies, 0);

	/* lockdep learns nothing from mutex_trylock(). */
	might_lock(&space->lock);
	if (mutex_trylock(&space->lock))
		return 0;
	/* As wait_event_killable_timeout(), but one at a time is woken. */
	left = ___wait_event(space->unlocked,
			     ___wait_cond_timeout(mutex_trylock(&space->lock)),
			     TASK_KILLABLE, 1, left,
			     __ret = schedule_timeout(__ret));
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

void kw_space_unlock(struct kw_space *space)
{
	mutex_unlock(&space->lock);
	/* Nearly always there is nobody. */
	if (wq_has_sleeper(&space->unlocked))
		wake_up(&space->unlocked);
}

/*
 * Whether somebody may be taking a snapshot: a space that has caught up takes another
 * one when something is tried again. If not, what is published from now on was begun
 * after the caller's mapping, of which he has mmap_lock.
 */
bool kw_space_is_busy(const struct kw_space *space)
{
	bool busy = mutex_is_locked((struct mutex *)&space->lock);

	/* Who unlocks has published before: the snapshot is read behind this. */
	smp_rmb();
	return busy;
}

/**
 * kw_space_catch_up() - make sure that a space's snapshot knows of an event
 * @space: the space
 * @mm: its mm, whose users the caller holds
 * @event: the event
 * @may_hang: whether the caller has mapped something himself, and waits for file servers
 *
 * Events are numbered under mmap_lock for writing, and the VMAs are listed under
 * mmap_lock for reading: a snapshot whose taking began after an event has the
 * event's mapping. So whoever finds the space behind takes one, unless somebody
 * else did while he waited for the lock.
 *
 * Context: process context, sleeps; no lock of memory management may be held.
 * Return: 0, also if another task of the process is at it for long: then walks say
 *	what is missing until it is done; -EINTR after a fatal signal; -ENOMEM.
 */
int kw_space_catch_up(struct kw_space *space, struct mm_struct *mm, s64 event,
		      bool may_hang)
{
	struct kw_patience patience = {
		.own = true,
		.may_hang = may_hang,
		.deadline = kw_no_deadline(),
	};
	int ret;

	might_sleep();
	if (knows_of(space, event))
		return 0;
	ret = kw_space_lock(space, jiffies + PATIENCE);
	if (ret == -ETIMEDOUT) {
		kw_retry_failed(&space->retry);
		return 0;
	}
	if (ret)
		return ret;
	if (!knows_of(space, event))
		ret = take_latest(space, mm, &patience);
	kw_space_unlock(space);
	return ret;
}

/**
 * kw_space_retry() - try again what failed for want of memory, if it is time
 * @space: the space
 * @mm: its mm, whose users the caller holds
 *
 * A task that has mapped nothing does not wait for a file server, nor for who may be
 * waiting for one with the lock.
 *
 * Context: process context, sleeps; no lock of memory management may be held.
 */
void kw_space_retry(struct kw_space *space, struct mm_struct *mm)
{
	struct kw_patience patience = {
		.own = true,
		.deadline = kw_no_deadline(),
	};

	might_sleep();
	if (!mutex_trylock(&space->lock))
		return;
	if (kw_retry_is_due(&space->retry)) {
		kw_count(map_retries);
		/* So that no other task thinks it due meanwhile. */
		kw_retry_failed(&space->retry);
		take_latest(space, mm, &patience);
	}
	kw_space_unlock(space);
}

/**
 * kw_space_cover() - cover an mm as far as it is mapped now
 * @mm: an mm whose users the caller holds
 * @pid: a process that has it
 * @lock_deadline: in jiffies: how long to wait for tasks of @mm that catch up
 *	themselves, and may be waiting for their own slow file
 * @patience: what to do for it; the rest is left to its own tasks
 *
 * Context: process context, sleeps.
 * Return: 0; -EINTR after a fatal signal; -ETIMEDOUT; -ETIME; -ENOMEM.
 */
int kw_space_cover(struct mm_struct *mm, pid_t pid, unsigned long lock_deadline,
		   const struct kw_patience *patience)
{
	struct mem_cgroup *before = kw_charge_begin(mm);
	struct kw_space *space = kw_space_obtain(mm, pid, KW_GFP);
	int ret;

	kw_charge_end(before);
	if (IS_ERR_OR_NULL(space))
		return PTR_ERR_OR_ZERO(space);
	ret = -ETIMEDOUT;
	if (time_before(jiffies, patience->deadline + GRACE))
		ret = kw_space_lock(space, lock_deadline);
	if (!ret) {
		if (!knows_of(space, atomic64_read(&space->wanted)))
			ret = take_latest(space, mm, patience);
		kw_space_unlock(space);
	}
	/* Its own tasks try again. */
	if (ret)
		kw_retry_failed(&space->retry);
	kw_space_put(space);
	return ret;
}

/*
 * Number an event, and put @cut, made from @snap, in the place of @snap.
 * Return: the event; 0 if @snap is no longer the published one.
 */
static s64 number(struct kw_space *space, struct kw_snapshot *snap,
		  struct kw_snapshot *cut, bool wrong)
{
	s64 event = 0;

	raw_spin_lock(&space->snap_lock);
	if (rcu_access_pointer(space->snap) != snap)
		goto unlock;
	WRITE_ONCE(space->mapped_by, current->pid);
	event = atomic64_inc_return(&space->wanted);
	if (cut)
		replace(space, cut);
	else if (wrong)
		atomic64_set(&space->stale, event);
unlock:
	raw_spin_unlock(&space->snap_lock);
	return event;
}

/**
 * kw_space_event() - number a mapping event
 * @space: where
 * @vma: what was mapped, or is about to be moved
 * @start: its first address, after the move
 * @end: the first address behind it
 * @moved: it is moved; @vma does not say where to
 *
 * What the snapshot says about these addresses is taken out of it at once, if it
 * is wrong: until the new snapshot is there, other threads have the rest.
 *
 * Context: mmap_lock held for writing, so that the new code cannot run yet, and
 *	that there is one event at a time; preemption may be off.
 * Return: the event's number.
 */
s64 kw_space_event(struct kw_space *space, const struct vm_area_struct *vma,
		   u64 start, u64 end, bool moved)
{
	struct kw_snapshot *snap, *cut;
	bool wrong;
	s64 event;

	kw_count(mapping_events);
	rcu_read_lock();
	/* Again only if another task has just published. */
	do {
		cut = NULL;
		snap = rcu_dereference(space->snap);
		wrong = snap && (moved ? kw_snapshot_overlaps(snap, start, end) :
					 !kw_snapshot_agrees(snap, vma));
		if (wrong)
			cut = kw_snapshot_cut(snap, start, end);
		event = number(space, snap, cut, wrong);
		if (cut)
			kw_snapshot_put(event ? snap : cut);
	} while (!event);
	rcu_read_unlock();
	if (cut)
		trace_kunwind_unmap(space->number, start, end);
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
	bool inherited, starved;
	pid_t by;

	if (coverage == KW_STALE || !snap || !refcount_inc_not_zero(&snap->refs))
		return false;
	starved = snap->starved || snap->late || READ_ONCE(parent->retry.at);
	raw_spin_lock(&child->snap_lock);
	/* Somebody who attaches may have been faster. */
	inherited = !rcu_access_pointer(child->snap);
	if (inherited) {
		/* Before the event: what was told until now, the child has, too. */
		atomic64_set(&child->told, atomic64_read_acquire(&parent->told));
		trace_kunwind_fork(parent->number, child->number, parent->pid,
				   child->pid);
		snap = replace(child, snap);
		if (coverage == KW_COVERED)
			atomic64_set_release(&child->done, 0);
		if (starved)
			kw_retry_failed(&child->retry);
	}
	raw_spin_unlock(&child->snap_lock);
	kw_snapshot_put(snap);
	/*
	 * The child's mm was copied some time ago. What another thread has mapped since
	 * may be in the snapshot, and that thread may be gone.
	 */
	by = READ_ONCE(parent->mapped_by);
	return inherited && coverage == KW_COVERED &&
	       (by ? by == current->pid : atomic_read(&current->mm->mm_users) == 1);
}

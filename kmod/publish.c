// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A task takes snapshots until one knows of the last mapping event, then announces and
 * publishes that one. No task waits for another one to compile a table. Threads that map
 * at the same time each take a snapshot, and may compile the same table: that takes 10 to
 * 20 ms for the largest, and is cheaper than waiting.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include "coverage.h"
#include "snapshot.h"
#include "stats.h"
#include "times.h"

/* Nothing is missing: no walk has to ask for another attempt. The caller has @space->lock. */
static void forget_failures(struct kw_space *space)
{
	WRITE_ONCE(space->retry_at, 0);
	WRITE_ONCE(space->retry_delay, 0);
}

/* Publish @snap instead of @old if it knows of the last event. Return: 0, -EAGAIN. */
static int replace(struct kw_space *space, struct kw_snapshot *old, struct kw_snapshot *snap)
{
	int ret = -EAGAIN;

	raw_spin_lock(&space->lock);
	/* During the announcement, a fork may have published the parent's snapshot. */
	if (space->events == snap->version && kw_space_published(space) == old) {
		refcount_inc(&snap->refs);
		rcu_assign_pointer(space->snap, snap);
		if (!snap->lacking)
			forget_failures(space);
		ret = 0;
	}
	raw_spin_unlock(&space->lock);
	if (!ret)
		kw_snapshot_put(old);
	return ret;
}

/* Return: the published snapshot, with a reference, or NULL. */
static struct kw_snapshot *get_published(struct kw_space *space)
{
	struct kw_snapshot *snap;

	raw_spin_lock(&space->lock);
	snap = kw_space_published(space);
	if (snap)
		refcount_inc(&snap->refs);
	raw_spin_unlock(&space->lock);
	return snap;
}

/* @snap was announced, but not published: announce what is published instead. */
static void take_back(struct kw_space *space, struct kw_snapshot *snap)
{
	struct kw_snapshot *now = get_published(space);

	if (now)
		kw_announce_maps(space, snap, now);
	kw_announce_unmaps(space, snap, now);
	kw_snapshot_put(now);
}

/* Something is missing after an attempt. Each one of a task that returns makes the next later. */
static void leave_missing(struct kw_space *space, const struct kw_taker *taker)
{
	if (taker->returns)
		kw_space_failed(space);
	else
		kw_space_leave(space);
}

/*
 * Announce @bases->own, then publish it in place of @bases->published: so the reader of a trace
 * knows of its mappings before any walk does. If another thread has published one meanwhile, look
 * again: that one may suffice, or have what this one lacks.
 */
static int announce_and_publish(struct kw_space *space, const struct kw_bases *bases,
				const struct kw_taker *taker)
{
	struct kw_snapshot *snap = bases->own, *old = bases->published;
	int ret;

	lockdep_assert_held(&space->publishing);
	if (READ_ONCE(space->events) != snap->version || rcu_access_pointer(space->snap) != old)
		return -EAGAIN;
	kw_announce_maps(space, old, snap);
	ret = replace(space, old, snap);
	if (ret)
		take_back(space, snap);
	else
		kw_announce_unmaps(space, old, snap);
	if (!ret && snap->lacking)
		leave_missing(space, taker);
	return ret;
}

/* A task of the process waits. Others only try. */
static int publish(struct kw_space *space, const struct kw_bases *bases,
		   const struct kw_taker *taker)
{
	int ret;

	if (taker->own)
		mutex_lock(&space->publishing);
	else if (!mutex_trylock(&space->publishing))
		return -EAGAIN;
	ret = announce_and_publish(space, bases, taker);
	mutex_unlock(&space->publishing);
	return ret;
}

/*
 * Take one snapshot, and publish it. It stays in @bases, for another attempt.
 * Return: 0; -EAGAIN if something was mapped meanwhile, if another thread has found more,
 * or if an attaching tracer would have to wait to publish; -EINTR, -ENOMEM, -EBUSY.
 */
static int attempt(struct kw_space *space, struct mm_struct *mm,
		   const struct kw_taker *taker, struct kw_bases *bases)
{
	struct kw_snapshot *fresh = kw_snapshot_take(space, mm, bases, taker);

	if (IS_ERR(fresh)) {
		kw_count(map_failures);
		return PTR_ERR(fresh);
	}
	kw_count(map_builds);
	kw_snapshot_put(bases->own);
	bases->own = fresh;
	return publish(space, bases, taker);
}

/*
 * Whether a new snapshot is needed. If not, another task's failed attempt may have set the time of
 * the next. Puts what is published into @bases.
 */
static bool needs_snapshot(struct kw_space *space, struct kw_bases *bases)
{
	struct kw_snapshot *now = get_published(space);
	bool needed;

	kw_snapshot_put(bases->published);
	bases->published = now;
	raw_spin_lock(&space->lock);
	needed = !now || now->lacking || space->events > now->version;
	if (!needed)
		forget_failures(space);
	raw_spin_unlock(&space->lock);
	return needed;
}

/*
 * Take snapshots of @mm until one that knows of all events is published, at most @rounds times.
 * Return: as attempt().
 */
static int take_rounds(struct kw_space *space, struct mm_struct *mm,
		       const struct kw_taker *taker, int rounds)
{
	struct kw_bases bases = {};
	int ret;

	might_sleep();
	atomic_inc(&space->takers);
	do {
		/* Another thread may have published what this one could not. */
		ret = needs_snapshot(space, &bases) ? attempt(space, mm, taker, &bases) : 0;
		cond_resched();
	} while (ret == -EAGAIN && --rounds);
	kw_snapshot_put(bases.published);
	kw_snapshot_put(bases.own);
	atomic_dec_return_release(&space->takers);
	if (ret)
		leave_missing(space, taker);
	return ret;
}

/*
 * Publish a snapshot of @mm, which is current->mm, that knows of all events. @mapped is
 * what the caller has mapped itself: only there it waits for file servers.
 * Context: process context, sleeps; no lock of memory management may be held.
 * Return: 0; -EINTR after a fatal signal; -ENOMEM; -EAGAIN if other threads of the process
 * map faster. After an error, walks say what is missing.
 */
int kw_space_catch_up(struct kw_space *space, struct mm_struct *mm,
		      const struct kw_range *mapped)
{
	const struct kw_taker taker = {
		.own = true,
		.returns = true,
		.mapped = *mapped,
		.deadline = jiffies + MAX_JIFFY_OFFSET,
	};

	return take_rounds(space, mm, &taker, KW_TAKE_ROUNDS);
}

/*
 * The same for current's own request for a walk, if something is missing. The walk reports what
 * is still missing. Return: 0; -EINTR after a fatal signal.
 */
int kw_space_refresh(struct kw_space *space, struct mm_struct *mm)
{
	static const struct kw_range none;

	if (kw_space_state(space) == KW_CURRENT && !kw_space_is_due(space))
		return 0;
	return kw_space_catch_up(space, mm, &none) == -EINTR ? -EINTR : 0;
}

/*
 * For an attaching tracer: cover the process @pid of the user @uid. It has @mm, which the
 * caller holds, without its users. No table is compiled after @deadline, in jiffies, and no
 * snapshot is taken after KW_ATTACH_GRACE more. Where the tracer would have to wait, it leaves
 * the work to the process, on its return to user mode. @returns: it asks for this process again
 * and again.
 * Context: process context, sleeps.
 * Return: 0; -EBUSY if the mmap_lock was taken; -EINTR after a fatal signal.
 */
int kw_space_cover(struct mm_struct *mm, pid_t pid, kuid_t uid, unsigned long deadline,
		   bool returns)
{
	struct kw_taker taker = {
		.own = mm == current->mm,
		.returns = returns || mm == current->mm,
		.deadline = deadline,
	};
	struct kw_space *space;
	int ret = 0;

	space = kw_space_obtain(mm, pid, uid, false);
	if (!space)
		return 0;
	if (taker.own)
		taker.mapped.end = U64_MAX;
	/*
	 * In execve(), before its code is mapped, its own task is about to take one of all. Where
	 * the hooks came later, it maps nothing more, and its first walk makes it, as where this
	 * tracer is late.
	 */
	if ((!taker.own && time_after(jiffies, deadline + KW_ATTACH_GRACE)) ||
	    (kw_space_state(space) == KW_EMPTY && !READ_ONCE(mm->end_code))) {
		if (kw_space_state(space) != KW_CURRENT)
			kw_space_leave(space);
	} else {
		ret = take_rounds(space, mm, &taker, 1);
	}
	kw_space_put(space);
	return ret == -EINTR || ret == -EBUSY ? ret : 0;
}

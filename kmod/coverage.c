// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How a covered address space follows its mappings. Mapping events are numbered under
 * mmap_lock for writing, and VMAs are listed under mmap_lock for reading: a snapshot
 * knows of all events up to the last one before its listing. It is published only if
 * that is still the last one, so what is published is what was mapped at one moment.
 *
 *	EMPTY --publish--> CURRENT --event--> BEHIND (what is new lies elsewhere)
 *	CURRENT, BEHIND --event--> WRONG (something was replaced)
 *	BEHIND, WRONG --publish--> CURRENT
 *
 * Hooks number events and say which state follows; publish.c takes snapshots.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <kunwind/trace.h>
#include "coverage.h"
#include "snapshot.h"
#include "stats.h"
#include "times.h"

/*
 * The last event that a snapshot knows of which is read from now on, or an earlier one.
 * Context: any, under rcu_read_lock().
 */
s64 kw_space_known(const struct kw_space *space)
{
	/* Pairs with replace(). */
	return smp_load_acquire(&space->known);
}

/* Context: any, under rcu_read_lock(); look before using the snapshot. */
enum kw_state kw_space_state(const struct kw_space *space)
{
	s64 events = READ_ONCE(space->events);
	s64 wrong = READ_ONCE(space->wrong);
	s64 known = kw_space_known(space);

	if (!rcu_access_pointer(space->snap))
		return KW_EMPTY;
	if (wrong > known)
		return KW_WRONG;
	return events > known ? KW_BEHIND : KW_CURRENT;
}

/* Whether a walk should have the space's task catch up. Context: any, NMI included. */
bool kw_space_is_due(const struct kw_space *space)
{
	unsigned long at = READ_ONCE(space->retry_at);

	return unlikely(at) && time_after_eq(jiffies, at);
}

/* Something is missing: it is tried again, each time after a longer while. */
void kw_space_failed(struct kw_space *space)
{
	unsigned long now = jiffies, at = READ_ONCE(space->retry_at), delay;

	if (at && time_before(now, at))
		return;
	delay = clamp_t(unsigned long, 2 * READ_ONCE(space->retry_delay),
			KW_RETRY_FIRST, KW_RETRY_LONGEST);
	WRITE_ONCE(space->retry_delay, delay);
	WRITE_ONCE(space->retry_at, (now + delay) ?: 1);
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
 * Whether anonymous memory that becomes executable matters: only if it replaces
 * something that the snapshot says, or one that is on its way may say.
 * Context: under rcu_read_lock(), mmap_lock held for writing.
 */
bool kw_space_cares(const struct kw_space *space, u64 start, u64 end)
{
	const struct kw_snapshot *snap;

	if (atomic_read_acquire(&space->takers) ||
	    kw_space_state(space) != KW_CURRENT)
		return true;
	snap = rcu_dereference(space->snap);
	/* There is none any more if the last consumer goes. */
	return snap && kw_snapshot_overlaps(snap, start, end);
}

/*
 * Whether something was mapped at these addresses since an event, or so many events came
 * that nobody can tell. Context: mmap_lock or @space->lock held.
 */
bool kw_space_changed(const struct kw_space *space, s64 version, u64 start, u64 end)
{
	s64 event = READ_ONCE(space->events);

	if (event - version > KW_LOG)
		return true;
	for (; event > version; event--) {
		const struct kw_range *r = &space->log[event % KW_LOG];

		if (r->start < end && start < r->end)
			return true;
	}
	return false;
}

/*
 * How many of these frames, from the innermost, are in code that was there at event
 * @known, and has not been mapped over since.
 * Context: any, under rcu_read_lock().
 * Return: at most @count; 0 if more was mapped since than the space remembers.
 */
u32 kw_space_unchanged(const struct kw_space *space, s64 known, const u64 *frames,
		       u32 count)
{
	s64 events, event;
	u32 i;

	/* Pairs with number(). */
	events = smp_load_acquire(&space->events);
	if (events - known >= KW_LOG)
		return 0;
	for (event = known + 1; event <= events; event++) {
		const struct kw_range *r = &space->log[event % KW_LOG];

		/* A return address, or the instruction itself. */
		for (i = 0; i < count; i++)
			if (frames[i] - 1 < r->end && frames[i] >= r->start)
				count = i;
	}
	/* Has a hook begun to write over what was read? */
	smp_rmb();
	return READ_ONCE(space->events) - known < KW_LOG ? count : 0;
}

/* Number an event. The caller has @space->lock. */
static void number(struct kw_space *space, u64 start, u64 end, bool wrong)
{
	s64 event = space->events + 1;

	/* Pairs with kw_space_unchanged(): the event before shows before this one's place. */
	smp_wmb();
	space->log[event % KW_LOG] = (struct kw_range) { start, end };
	if (wrong)
		WRITE_ONCE(space->wrong, event);
	/* Pairs with kw_space_unchanged(): the event's place shows before the event. */
	smp_store_release(&space->events, event);
	/* If the task that is to catch up cannot, a walk has another one do it. */
	if (!space->retry_at)
		WRITE_ONCE(space->retry_at, (jiffies + KW_RETRY_FIRST) ?: 1);
}

/*
 * Note a mapping event: @vma was mapped from @start to @end, or is about to be there
 * (@moved), and does not say what will lie there.
 * Context: mmap_lock held for writing, so that the new code cannot run yet, and there is
 * one event at a time; preemption may be off.
 */
void kw_space_event(struct kw_space *space, const struct vm_area_struct *vma,
		    u64 start, u64 end, bool moved)
{
	const struct kw_snapshot *snap;
	bool wrong;

	kw_count(mapping_events);
	raw_spin_lock(&space->lock);
	snap = kw_space_published(space);
	wrong = snap && (moved ? kw_snapshot_overlaps(snap, start, end) :
				 !kw_snapshot_agrees(snap, vma));
	number(space, start, end, wrong);
	raw_spin_unlock(&space->lock);
	if (wrong)
		trace_kunwind_unmap(space->number, start, end);
}

/*
 * A child's mm shares the snapshot of @parent, the space of current->mm. @alone: nobody
 * else has current->mm. The child has a copy of the caller's stack, and the return
 * addresses in it are as good in the parent: what another thread of the parent may have
 * mapped or unmapped since the copy was made is not on it. But it may be in the snapshot.
 *
 * Context: under rcu_read_lock(); preemption may be off.
 * Return: whether that is all that the child needs.
 */
bool kw_space_inherit(struct kw_space *child, struct kw_space *parent, bool alone)
{
	enum kw_state state = kw_space_state(parent);
	struct kw_snapshot *snap = rcu_dereference(parent->snap), *spare;
	bool whole = alone && state == KW_CURRENT;

	/* If the last consumer goes, the parent's goes with it. */
	if (state < KW_BEHIND || !snap || !refcount_inc_not_zero(&snap->refs))
		return false;
	spare = snap;
	raw_spin_lock(&child->lock);
	/* An attaching tracer may have been faster. */
	if (!kw_space_published(child)) {
		/* Before the event: what was told until now, the child has, too. */
		atomic64_set(&child->told, atomic64_read_acquire(&parent->told));
		trace_kunwind_fork(parent->number, child->number, parent->pid,
				   child->pid);
		rcu_assign_pointer(child->snap, snap);
		if (!whole)
			number(child, 0, 0, false);
		else
			WRITE_ONCE(child->retry_at, READ_ONCE(parent->retry_at));
		spare = NULL;
	}
	raw_spin_unlock(&child->lock);
	kw_snapshot_put(spare);
	return whole;
}

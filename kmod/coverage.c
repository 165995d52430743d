// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How a covered address space follows its mappings. Hooks number mapping events with
 * mmap_lock held for writing. VMAs are listed with mmap_lock held for reading. So a
 * snapshot knows exactly the events before its listing. It is published only if no event
 * came since. So a published snapshot is what was mapped at one moment.
 *
 * Hooks number events, and decide which state follows; publish.c publishes snapshots.
 * Documentation/design.md has the states.
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

/* Something is missing: set the time of the next attempt. The delay doubles each time. */
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

/*
 * An attaching tracer leaves what is missing to the process: its next walk makes it try, unless
 * the time of its next attempt is set.
 */
void kw_space_leave(struct kw_space *space)
{
	if (!READ_ONCE(space->retry_at))
		WRITE_ONCE(space->retry_at, jiffies ?: 1);
}

/* Return: how far walks can use its snapshot. Context: any. */
enum kw_state kw_space_state(const struct kw_space *space)
{
	enum kw_state state;

	rcu_read_lock();
	state = kw_state_of(space, rcu_dereference(space->snap));
	rcu_read_unlock();
	return state;
}

/*
 * Whether anonymous memory that becomes executable matters: only if it replaces
 * a mapping of the snapshot, or of one that is being taken.
 * Context: preemption off, mmap_lock held for writing; with a reference, so that the snapshot
 * stays until the mm exits.
 */
bool kw_space_cares(const struct kw_space *space, u64 start, u64 end)
{
	const struct kw_snapshot *snap;

	if (atomic_read_acquire(&space->takers))
		return true;
	snap = rcu_dereference_sched(space->snap);
	return kw_state_of(space, snap) != KW_CURRENT || kw_snapshot_overlaps(snap, start, end);
}

/*
 * Whether something was mapped at these addresses since event @version, or may have been,
 * as more events came than the space remembers. Context: mmap_lock or @space->lock held.
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
 * Copy where something was mapped that @snap, the space's, does not know of. A walk by that
 * snapshot is wrong from there on.
 * Context: any, with preemption off, or under rcu_read_lock().
 * Return: how many ranges; -1 if there are, or seem to be, more than the space remembers.
 */
int kw_space_replaced(const struct kw_space *space, const struct kw_snapshot *snap,
		      struct kw_range ranges[KW_LOG])
{
	/* Pairs with number(). */
	s64 events = smp_load_acquire(&space->events), event;
	int count = 0;

	for (event = snap->version + 1; event <= events && count < KW_LOG; event++)
		ranges[count++] = space->log[event % KW_LOG];
	/* If a hook has started to overwrite the places that were read, trust none. */
	smp_rmb();
	return READ_ONCE(space->events) - snap->version < KW_LOG ? count : -1;
}

/* Number an event. The caller has @space->lock. */
static void number(struct kw_space *space, u64 start, u64 end, bool wrong)
{
	s64 event = space->events + 1;

	/* Pairs with kw_space_replaced(): the previous event shows before this log entry. */
	smp_wmb();
	space->log[event % KW_LOG] = (struct kw_range) { start, end };
	if (wrong)
		WRITE_ONCE(space->wrong, event);
	/*
	 * Pairs with kw_space_replaced() and kw_state_of(): the log entry, and that it is wrong,
	 * show before the event.
	 */
	smp_store_release(&space->events, event);
	/* If the task that should catch up cannot, a walk makes another task do it. */
	if (!space->retry_at)
		kw_space_failed(space);
}

/*
 * Note a mapping event at [@start, @end). @vma has been mapped there; or, if @moved,
 * memory is about to change there, and @vma does not describe the result.
 * Context: mmap_lock held for writing, so that events come one at a time; preemption may
 * be off.
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
	WRITE_ONCE(space->mapper, current);
	number(space, start, end, wrong);
	raw_spin_unlock(&space->lock);
	if (wrong)
		trace_kunwind_unmap(space->number, start, end);
}

/*
 * Let a child share the snapshot of @parent, the space of current->mm. @alone: no other
 * task uses current->mm.
 *
 * Another thread of the parent may have mapped or unmapped something after the child's
 * mm was copied, and be gone by now. That may be in the snapshot, and is wrong for the child.
 * But it cannot be on the child's stack, a copy of the caller's: a walk of that stack is right,
 * and for the next one the child takes a snapshot of its own.
 *
 * Context: under rcu_read_lock(), with references to both; preemption may be off.
 * Return: whether the child needs no snapshot of its own.
 */
bool kw_space_inherit(struct kw_space *child, struct kw_space *parent, bool alone)
{
	struct kw_snapshot *snap = rcu_dereference(parent->snap), *spare;
	enum kw_state state = kw_state_of(parent, snap);
	const struct task_struct *mapper = READ_ONCE(parent->mapper);
	bool whole = alone && state == KW_CURRENT && (!mapper || mapper == current);

	/* If another thread has published one since, this one may be gone. */
	if (state < KW_BEHIND || !refcount_inc_not_zero(&snap->refs))
		return false;
	spare = snap;
	raw_spin_lock(&child->lock);
	/* An attaching tracer may have published one already. */
	if (!kw_space_published(child)) {
		/*
		 * Before the trace event: if a dump had told of the parent by now, the
		 * reader gets the child's mappings from the kunwind_fork.
		 */
		atomic64_set(&child->told, atomic64_read_acquire(&parent->told));
		trace_kunwind_fork(parent->number, child->number, parent->pid,
				   child->pid);
		WRITE_ONCE(child->events, snap->version);
		rcu_assign_pointer(child->snap, snap);
		if (!whole)
			number(child, 0, 0, false);
		else if (snap->lacking)
			kw_space_failed(child);
		spare = NULL;
	}
	raw_spin_unlock(&child->lock);
	kw_snapshot_put(spare);
	return whole;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * After a mapping event, the task that caused it catches up itself, by task_work,
 * before it returns to user mode: the new code cannot run before its table is there,
 * and a slow file delays nobody but its owner. Hooks only mark: what is queued is one
 * of the slots that the space has.
 *
 * A task runs its work before it returns to user mode, stops for a signal or a
 * tracer (get_signal(), ptrace_notify()) or exits. What can keep it from that is
 * a system call that sleeps with work pending, such as execve() of a file on a
 * server that hangs. So how does the module go away?
 *
 *  - Every slot in use holds a reference to the module. Once rmmod has got past
 *    that, none is in use, and none can be claimed: try_module_get() fails from
 *    then on. A task that is stuck makes rmmod say EBUSY.
 *  - The work's function gives the reference back, and is then still executing
 *    the module's text. It does not sleep after that, so that
 *    synchronize_rcu_tasks(), which waits until every task has slept, has been in
 *    user mode or is gone, waits for its last instruction. The module's exit does
 *    that before it frees anything.
 *  - So that rmmod does not fail for work that takes microseconds, the end of the
 *    last consumer waits a little until there is none.
 */
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>
#include <linux/wait.h>
#include "coverage.h"
#include "spares.h"
#include "stats.h"
#include "times.h"
#include "wanted.h"
#include "work.h"

static DECLARE_WAIT_QUEUE_HEAD(drained);

/* After an execve() or in an exit, the mm is no longer the task's. */
static bool is_own(const struct kw_space *space)
{
	return current->mm && current->mm == space->mm &&
	       !(current->flags & PF_EXITING) && !fatal_signal_pending(current) &&
	       !hlist_unhashed_lockless(&space->node);
}

/* Give up what a slot holds, once it is free. */
static void finish(struct kw_space *space)
{
	kw_space_put(space);
	module_put(THIS_MODULE);
	/* From here on only synchronize_rcu_tasks() keeps the module; no sleep. */
	if (atomic_long_dec_and_test(&kw_gauges.pending))
		wake_up_all(&drained);
}

static void run(struct callback_head *work)
{
	struct kw_slot *slot = container_of(work, struct kw_slot, work);
	struct kw_space *space = slot->space;
	struct kw_range mapped;

	raw_spin_lock(&space->lock);
	mapped = slot->mapped;
	slot->task = NULL;
	raw_spin_unlock(&space->lock);
	if (kw_is_any_wanted() && kw_spares_are_low()) {
		kw_spares_fill();
		/* The last consumer may have freed them meanwhile. */
		if (!kw_is_any_wanted())
			kw_spares_free();
	}
	/* If it is killed or has another mm, a walk has another task of this one do it. */
	if (is_own(space))
		kw_space_catch_up(space, current->mm, &mapped);
	finish(space);
}

/* Claim a slot for @task. Return: NULL if there is none. */
static struct kw_slot *claim(struct kw_space *space, struct task_struct *task,
			     u64 start, u64 end)
{
	int i;

	lockdep_assert_held(&space->lock);
	for (i = 0; i < KW_SLOTS; i++) {
		struct kw_slot *slot = &space->slots[i];

		if (slot->task)
			continue;
		slot->task = task;
		slot->mapped = (struct kw_range) { start, end };
		return slot;
	}
	return NULL;
}

/* Whether @task has work queued already, which these addresses are added to. */
static bool join(struct kw_space *space, const struct task_struct *task, u64 start,
		 u64 end)
{
	int i;

	lockdep_assert_held(&space->lock);
	for (i = 0; i < KW_SLOTS; i++) {
		struct kw_range *mapped = &space->slots[i].mapped;

		if (space->slots[i].task != task)
			continue;
		if (start == end)
			return true;
		if (mapped->start == mapped->end)
			mapped->start = start;
		mapped->start = min(mapped->start, start);
		mapped->end = max(mapped->end, end);
		return true;
	}
	return false;
}

/* Have @task run the work of @slot. */
static bool queue(struct kw_slot *slot, struct task_struct *task)
{
	struct kw_space *space = slot->space;

	refcount_inc(&space->refs);
	kw_gauge_add(pending, 1);
	init_task_work(&slot->work, run);
	/* The caller may have the lock of a run queue. */
	if (!task_work_add(task, &slot->work, TWA_RESUME | TWAF_NO_ALLOC))
		return true;
	/* It exits, and so nobody else has seen the slot. */
	WRITE_ONCE(slot->task, NULL);
	finish(space);
	return false;
}

/*
 * Have @task, current or a child that does not run yet, catch up before it returns to
 * user mode. @space is that of its mm; from @start to @end it has mapped something
 * itself, nothing if they are equal.
 * Context: any but interrupts; preemption may be off.
 * Return: false if that cannot be; then the space stays behind until another task
 * catches up, or a walk has one do so.
 */
bool kw_work_queue(struct task_struct *task, struct kw_space *space, u64 start,
		   u64 end)
{
	struct kw_slot *slot;
	bool joined;

	/* It fails when the module goes, and then nobody is there to want it. */
	if (!try_module_get(THIS_MODULE))
		return false;
	raw_spin_lock(&space->lock);
	joined = join(space, task, start, end);
	slot = joined ? NULL : claim(space, task, start, end);
	raw_spin_unlock(&space->lock);
	if (slot)
		return queue(slot, task);
	module_put(THIS_MODULE);
	return joined;
}

/*
 * Have current catch up with the space of its mm, from a walk of a consumer, which keeps
 * the module. The task must be about to return to user mode: one that sleeps in a system
 * call would keep the module from going. Context: any.
 */
void kw_work_retry(struct kw_space *space)
{
	struct kw_slot *slot = NULL;

	/* task_work_add() may take a lock of KASAN's. */
	if (in_nmi() || (current->flags & PF_EXITING))
		return;
	/* What this walk has interrupted may have the lock. */
	if (!raw_spin_trylock(&space->lock))
		return;
	if (!join(space, current, 0, 0))
		slot = claim(space, current, 0, 0);
	raw_spin_unlock(&space->lock);
	if (!slot)
		return;
	/* Not if the space has just been dropped. */
	if (!refcount_inc_not_zero(&space->refs)) {
		WRITE_ONCE(slot->task, NULL);
		return;
	}
	__module_get(THIS_MODULE);
	queue(slot, current);
	kw_space_put(space);
}

/* Wait, but not for ever, until no work is queued. */
void kw_work_drain(void)
{
	wait_event_timeout(drained, !kw_gauge(pending), KW_DRAIN);
}

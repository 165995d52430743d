// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * After a mapping event, the task that caused it takes the new snapshot itself,
 * by task_work, before it returns to user mode: the new code cannot run before
 * its table is there, and a slow file delays nobody but its owner.
 *
 * A task runs its work before it returns to user mode, stops for a signal or a
 * tracer (get_signal(), ptrace_notify()) or exits. What can keep it from that is
 * a system call that sleeps with work pending, such as execve() of a file on a
 * server that hangs. So how does the module go away?
 *
 *  - Every item holds a reference to the module. Once rmmod has got past that,
 *    no item is pending, and none can be made: try_module_get() fails from then
 *    on. A task that is stuck makes rmmod say EBUSY.
 *  - The item's function gives the reference back, and is then still executing
 *    the module's text. It does not sleep after that, so that
 *    synchronize_rcu_tasks(), which waits until every task has slept, has been in
 *    user mode or is gone, waits for its last instruction. The module's exit does
 *    that before it frees anything.
 *  - So that rmmod does not fail for an item that takes microseconds, the end of
 *    the last consumer waits a little until there are none.
 */
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/wait.h>
#include "pending.h"
#include "space.h"
#include "stats.h"

/* How long the last consumer waits for work that is pending. */
#define DRAIN_TIMEOUT	(HZ / 2)

static DECLARE_WAIT_QUEUE_HEAD(drained);

/*
 * Made by a hook, in atomic context; run once and freed by the task that it is
 * queued on. Until it begins to run, further events of that task join it: one
 * mprotect() can have 65,000, and what is allocated in atomic context is charged to a
 * cgroup even beyond its limit.
 */
struct kw_pending {
	struct callback_head work;
	const struct task_struct *task;
	struct kw_space *space;
	/* Of the last one; under @space->snap_lock as long as @space->queued is this. */
	s64 event;
	/* Of any of them. */
	bool may_hang;
};

/* After an execve() or in an exit, the mm is no longer the task's. */
static bool is_own(const struct kw_space *space)
{
	return current->mm && current->mm == space->mm &&
	       !(current->flags & PF_EXITING) && !fatal_signal_pending(current) &&
	       !hlist_unhashed_lockless(&space->node);
}

/* An item is done. */
static void finish(struct kw_space *space)
{
	kw_space_put(space);
	module_put(THIS_MODULE);
	/* From here on only synchronize_rcu_tasks() keeps the module; no sleep. */
	if (atomic_long_dec_and_test(&kw_gauges.pending))
		wake_up_all(&drained);
}

static void catch_up(struct callback_head *work)
{
	struct kw_pending *p = container_of(work, struct kw_pending, work);
	struct kw_space *space = p->space;

	raw_spin_lock(&space->snap_lock);
	if (space->queued == p)
		space->queued = NULL;
	raw_spin_unlock(&space->snap_lock);
	/* If it is killed, or has another mm, those who share this one see to it. */
	if (!is_own(space) ||
	    kw_space_catch_up(space, current->mm, p->event, p->may_hang))
		kw_retry_failed(&space->retry);
	kfree(p);
	finish(space);
}

static void retry(struct callback_head *work)
{
	struct kw_space *space = container_of(work, struct kw_space, retry.work);

	/* From here on another task may queue it. */
	atomic_set_release(&space->retry.queued, 0);
	if (is_own(space))
		kw_space_retry(space, current->mm);
	finish(space);
}

/* Return: whether @task has an item of @space already; it catches up with @event, too. */
static bool join(const struct task_struct *task, struct kw_space *space, s64 event,
		 bool may_hang)
{
	bool joins;

	raw_spin_lock(&space->snap_lock);
	joins = space->queued && space->queued->task == task;
	if (joins) {
		space->queued->event = event;
		space->queued->may_hang |= may_hang;
	}
	raw_spin_unlock(&space->snap_lock);
	return joins;
}

/**
 * kw_pending_queue() - have a task catch up before it returns to user mode
 * @task: current, or a child that does not run yet
 * @space: the space of its mm; the item takes a reference of its own
 * @event: what to catch up with
 * @may_hang: whether @task has mapped something, and waits for file servers
 *
 * If it cannot be queued the space stays behind the event for a while, and walks
 * say so.
 *
 * Context: any but interrupts; preemption may be off.
 */
void kw_pending_queue(struct task_struct *task, struct kw_space *space, s64 event,
		      bool may_hang)
{
	struct kw_pending *p;

	if (join(task, space, event, may_hang))
		return;
	p = kmalloc(sizeof(*p), GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!p) {
		kw_count_failed_allocation();
		kw_retry_failed(&space->retry);
		return;
	}
	/* Fails when the module goes, and then nobody is there to want it. */
	if (!try_module_get(THIS_MODULE))
		goto free;
	refcount_inc(&space->refs);
	p->task = task;
	p->space = space;
	p->event = event;
	p->may_hang = may_hang;
	init_task_work(&p->work, catch_up);
	kw_gauge_add(pending, 1);
	if (!task_work_add(task, &p->work, TWA_RESUME)) {
		/* It cannot have run yet: @task is in this hook, or has never run. */
		raw_spin_lock(&space->snap_lock);
		space->queued = p;
		raw_spin_unlock(&space->snap_lock);
		return;
	}
	/* The task exits. */
	kw_gauge_sub(pending, 1);
	kw_space_put(space);
	module_put(THIS_MODULE);
free:
	kfree(p);
}

/**
 * kw_pending_retry() - have current do what is due for a retry, in a moment
 * @space: the space of its mm
 *
 * It must be about to return to user mode: a task that sleeps in a system call would
 * keep the module from going. Nothing is allocated.
 *
 * Context: any, of a consumer's walk, which the module cannot go away under.
 */
void kw_pending_retry(struct kw_space *space)
{
	/* task_work_add() may take a lock of KASAN's. */
	if (in_nmi() || (current->flags & PF_EXITING) ||
	    atomic_xchg(&space->retry.queued, 1))
		return;
	/* Not if it has just been dropped. */
	if (!refcount_inc_not_zero(&space->refs))
		return;
	__module_get(THIS_MODULE);
	kw_gauge_add(pending, 1);
	init_task_work(&space->retry.work, retry);
	/* It fails for a task that exits. */
	task_work_add(current, &space->retry.work, TWA_RESUME);
}

/* Wait, but not for ever, until no item is pending. */
void kw_pending_drain(void)
{
	wait_event_timeout(drained, !kw_gauge(pending), DRAIN_TIMEOUT);
}

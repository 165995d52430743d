// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * After a mapping event, or when it has opened the device, a task catches up itself, by
 * task_work, before it returns to user mode. So the new code cannot run before its table exists,
 * and a slow file delays only the process that maps it. Hooks cannot allocate: they
 * queue one of the space's slots.
 *
 * A task runs its work before it returns to user mode, stops for a signal or a
 * debugger (get_signal(), ptrace_notify()) or exits. A system call that sleeps with work
 * pending can delay that, such as execve() of a file on a server that hangs. Unloading
 * the module is safe all the same:
 *
 *  - Queued work holds a reference to the module, so a task that is stuck makes rmmod
 *    fail with EBUSY. Once rmmod has passed that check, no work is queued, and none can
 *    be, as try_module_get() fails from then on.
 *  - The work's function gives the reference back while it still executes the module's
 *    text. It does not sleep after that. So synchronize_rcu_tasks(), which waits until
 *    every task has slept, has been in user mode or is gone, waits for its last
 *    instruction. The module's exit calls it before it frees anything.
 *  - When the last consumer detaches, and it was one of all processes, it waits briefly
 *    until no work is pending, so that rmmod does not fail because of work that takes
 *    microseconds.
 */
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <asm/ptrace.h>
#include "compat/sched.h"
#include "compat/task_work.h"
#include "consumer.h"
#include "coverage.h"
#include "stats.h"
#include "times.h"
#include "work.h"

/*
 * Whether current can catch up. @space is not its own after execve() or exit, nor if current is a
 * child for which its parent waits, and shall only make spares.
 */
static bool is_own(const struct kw_space *space)
{
	return current->mm && current->mm == space->mm &&
	       !(current->flags & PF_EXITING) && !fatal_signal_pending(current) &&
	       !hlist_unhashed_lockless(&space->node);
}

/* Give up the references of a slot, which is free again. */
static void finish(struct kw_space *space)
{
	kw_space_put(space);
	module_put(THIS_MODULE);
	/* From here on, only synchronize_rcu_tasks() keeps the module: do not sleep. */
	kw_gauge_sub(pending, 1);
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
	/* Otherwise a walk makes another task of that mm catch up, if one is left. */
	if (is_own(space))
		kw_space_catch_up(space, current->mm, &mapped);
	finish(space);
}

/* Return: the slot of @task, or a free one if @task is NULL; NULL if there is none. */
static struct kw_slot *slot_of(struct kw_space *space, const struct task_struct *task)
{
	int i;

	for (i = 0; i < KW_SLOTS; i++)
		if (space->slots[i].task == task)
			return &space->slots[i];
	return NULL;
}

/*
 * Claim a slot for @task, or add the addresses to work that it has queued. Return: a slot to
 * queue, with a reference to the space; or NULL.
 */
static struct kw_slot *claim(struct kw_space *space, struct task_struct *task, u64 start,
			     u64 end)
{
	struct kw_range *mapped;
	struct kw_slot *slot;

	lockdep_assert_held(&space->lock);
	slot = slot_of(space, task);
	if (!slot) {
		slot = slot_of(space, NULL);
		/* A walk has no reference, and the space may have been dropped just now. */
		if (!slot || !refcount_inc_not_zero(&space->refs))
			return NULL;
		slot->space = space;
		slot->task = task;
		slot->mapped = (struct kw_range) { start, end };
		return slot;
	}
	mapped = &slot->mapped;
	if (mapped->start == mapped->end) {
		*mapped = (struct kw_range) { start, end };
	} else if (start != end) {
		mapped->start = min(mapped->start, start);
		mapped->end = max(mapped->end, end);
	}
	return NULL;
}

/* Queue the work of @slot, which was claimed for @task, unless that is exiting. */
static void queue(struct kw_slot *slot, struct task_struct *task)
{
	struct kw_space *space = slot->space;

	/* It fails while the module is being unloaded; then there is no consumer. */
	if (!try_module_get(THIS_MODULE)) {
		WRITE_ONCE(slot->task, NULL);
		kw_space_put(space);
		return;
	}
	kw_gauge_add(pending, 1);
	init_task_work(&slot->work, run);
	/* TWAF_NO_ALLOC: the caller may hold a run queue's lock. */
	if (!task_work_add(task, &slot->work, TWA_RESUME | TWAF_NO_ALLOC))
		return;
	/* @task exits, so no other task has seen the slot. */
	WRITE_ONCE(slot->task, NULL);
	finish(space);
}

/*
 * Make @task catch up before it returns to user mode. @task is current, or a child that
 * does not run yet; @space is that of its mm, or of its parent's, if it shall only make
 * spares. @task has mapped something from @start to @end itself, or nothing if they are equal.
 * If no work can be queued, the space stays behind until another task catches up, for its own
 * event or because a walk makes it.
 * Context: any but interrupts; preemption may be off.
 */
void kw_work_queue(struct task_struct *task, struct kw_space *space, u64 start,
		   u64 end)
{
	struct kw_slot *slot;

	raw_spin_lock(&space->lock);
	slot = claim(space, task, start, end);
	raw_spin_unlock(&space->lock);
	if (slot)
		queue(slot, task);
}

/*
 * Whether current will soon be back in user mode. In a system call it may sleep for ever, and its
 * slot would block rmmod. The entry of a system call sets ax to -ENOSYS, and its exit sets ax to
 * the result. A page fault, too, may sleep for ever, on a file server or on userfaultfd; but
 * nothing in the registers tells it from an interrupt. A task that stops for a signal or a
 * debugger has run its work before: the walk when it leaves the CPU comes too late.
 */
static bool is_returning(const struct pt_regs *regs)
{
	return (long)regs->orig_ax < 0 || (long)regs->ax != -ENOSYS;
}

/* Queue a slot of @space for current, which has its mm. Context: any but NMI. */
static void retry(struct kw_space *space)
{
	struct kw_slot *slot;

	/* The code that this walk has interrupted may hold the lock. */
	if (!raw_spin_trylock(&space->lock))
		return;
	slot = claim(space, current, 0, 0);
	raw_spin_unlock(&space->lock);
	if (slot)
		queue(slot, current);
}

/* An interrupt that follows an NMI. Another task may be current by then, which does no harm. */
static void retry_after_nmi(struct irq_work *work)
{
	struct kw_space *space;

	if (!current->mm || (current->flags & (PF_KTHREAD | PF_USER_WORKER)))
		return;
	space = kw_space_find(current->mm);
	if (space && kw_space_is_due(space))
		kw_work_retry(space, task_pt_regs(current));
}

/* One for all CPUs. While it is on its way, others ask in vain, and again at their next walk. */
static struct irq_work after_nmi = IRQ_WORK_INIT_HARD(retry_after_nmi);

/*
 * A walk has found that current should catch up with the space of its mm: let it, if it is about to
 * return to user mode. @regs: the user registers of the walk. Context: any, with preemption off.
 */
void kw_work_retry(struct kw_space *space, const struct pt_regs *regs)
{
	if (!is_returning(regs) || !task_is_running(current) || (current->flags & PF_EXITING))
		return;
	/* task_work_add() may take a lock of KASAN. */
	if (in_nmi())
		irq_work_queue(&after_nmi);
	else
		retry(space);
}

/*
 * No walk follows, and nothing queues work any more. A CPU may still be at the end of
 * retry_after_nmi(): the grace periods of synchronize_rcu_tasks(), which follows, wait for it.
 */
void kw_work_exit(void)
{
	irq_work_sync(&after_nmi);
}

/* Wait until no work is queued, for KW_DRAIN at most. */
void kw_work_drain(void)
{
	unsigned long end = jiffies + KW_DRAIN;

	while (kw_gauge(pending) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
}

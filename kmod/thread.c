// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Walk the stack of another thread, without stopping it.
 *
 * A thread that is on no CPU has left its user registers on its kernel stack. The caller
 * copies them and walks, if it has the thread's mm. Otherwise a worker does, which can use
 * that mm. The thread may wake up meanwhile. So the walk counts only if the thread is still
 * on no CPU after it, and was on none in between: each time that it leaves a CPU, the kernel
 * counts that.
 *
 * For a thread that is on a CPU, an interrupt of that CPU walks, as a tracer would.
 *
 * No page is faulted in: a page of the stack may belong to a file server that never answers.
 */
#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <kunwind/kunwind.h>
#include "consumer.h"
#include "stats.h"
#include "thread.h"
#include "times.h"
#include "walk_place.h"

static struct workqueue_struct *wq, *ends;

/* How often @task has left a CPU. */
static unsigned long count_switches(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

static bool is_on_cpu(const struct task_struct *task)
{
	/* Pairs with finish_task(): what the task did before it left the CPU shows. */
	return smp_load_acquire(&task->on_cpu);
}

/*
 * Whether @s->task has been on no CPU since @s->switches was read, and had @s->mm. The mm of a
 * task changes only while the task is on a CPU. So what was copied meanwhile is of that mm.
 */
static bool has_slept(const struct kw_thread_stack *s)
{
	/* All reads of its registers and of its stack come before. */
	smp_rmb();
	return !is_on_cpu(s->task) && count_switches(s->task) == s->switches &&
	       READ_ONCE(s->task->mm) == s->mm &&
	       !(READ_ONCE(s->task->flags) & PF_EXITING);
}

static void end_mm(struct work_struct *work)
{
	mmput(container_of(work, struct mm_struct, async_put_work));
	/* kw_threads_exit() waits for the last instructions. */
	module_put(THIS_MODULE);
}

/*
 * Give up the users of @mm, which may be the last ones. With AIO, the end of an mm can wait for its
 * user's I/O for ever (exit_aio()): not in the workqueue of the whole system, which has only some
 * hundred places on each CPU. Without, it cannot, and must not wait for those that can.
 */
static void put_users(struct mm_struct *mm)
{
	if (atomic_add_unless(&mm->mm_users, -1, 1))
		return;
#ifdef CONFIG_AIO
	if (rcu_access_pointer(mm->ioctx_table)) {
		__module_get(THIS_MODULE);
		INIT_WORK(&mm->async_put_work, end_mm);
		queue_work(ends, &mm->async_put_work);
		return;
	}
#endif
	mmput_async(mm);
}

/*
 * Context: process context, of a thread with @s->mm; or of a worker, which holds the mm's users for
 * the walk alone.
 */
static void walk_asleep(struct kw_thread_stack *s)
{
	bool own = current->mm == s->mm;
	struct pt_regs regs;

	/* The task may be exiting, and its kernel stack may go. */
	if (copy_from_kernel_nofault(&regs, task_pt_regs(s->task), sizeof(regs)) ||
	    !has_slept(s))
		return;
	if (!own) {
		if (!mmget_not_zero(s->mm))
			return;
		kthread_use_mm(s->mm);
	}
	s->space = kw_walk_other(s->task, &regs, s->frames, s->capacity, &s->result);
	if (!own) {
		kthread_unuse_mm(s->mm);
		put_users(s->mm);
	}
	s->done = has_slept(s);
}

static void run(struct work_struct *work)
{
	struct kw_thread_stack *s = container_of(work, struct kw_thread_stack, work);

	walk_asleep(s);
	complete(&s->ended);
}

/* Context: an interrupt on the CPU where the thread was; or the thread itself. */
static void walk_running(void *data)
{
	struct kw_thread_stack *s = data;

	if (current != s->task || current->mm != s->mm)
		return;
	s->space = kw_walk(NULL, s->frames, s->capacity, &s->result);
	s->done = true;
}

/* Return: whether the thread was on a CPU. If so, or if not, @s->done says if it worked. */
static bool attempt(struct kw_thread_stack *s)
{
	if (is_on_cpu(s->task)) {
		smp_call_function_single(task_cpu(s->task), walk_running, s, true);
		return true;
	}
	s->switches = count_switches(s->task);
	/* Pairs with has_slept(). */
	smp_rmb();
	if (current->mm == s->mm) {
		walk_asleep(s);
		return false;
	}
	init_completion(&s->ended);
	INIT_WORK_ONSTACK(&s->work, run);
	queue_work(wq, &s->work);
	/* There may be many walks before it, of other users' requests. */
	wait_for_completion_killable(&s->ended);
	/* After a fatal signal it need not have begun. */
	cancel_work_sync(&s->work);
	destroy_work_on_stack(&s->work);
	return false;
}

/*
 * Walk a thread's user stack. Context: process context, sleeps; the caller holds a consumer that
 * covers the mm.
 * Return: 0; -ESRCH if the thread exits or has another mm now; -EAGAIN if it kept moving; -EINTR
 * after a fatal signal.
 */
int kw_walk_thread(struct kw_thread_stack *s)
{
	int tries;

	might_sleep();
	for (tries = 0; tries < KW_THREAD_TRIES; tries++) {
		if (READ_ONCE(s->task->mm) != s->mm || READ_ONCE(s->task->flags) & PF_EXITING)
			return -ESRCH;
		s->running = attempt(s);
		if (s->done) {
			kw_count_stop(s->result.stop);
			return 0;
		}
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return -EAGAIN;
}

int kunwind_walk_thread(struct task_struct *task, u64 *frames, u32 capacity,
			struct kunwind_result *result, bool *running)
{
	struct kw_thread_stack s = {
		.task = task,
		.mm = kw_grab_mm(task),
		.frames = frames,
		.capacity = capacity,
	};
	int ret;

	if (!s.mm)
		return -ESRCH;
	ret = kw_walk_thread(&s);
	mmdrop(s.mm);
	if (ret)
		return ret;
	kw_result_tell(&s.result, s.space, result);
	*running = s.running;
	return 0;
}
EXPORT_SYMBOL_GPL(kunwind_walk_thread);

int __init kw_threads_init(void)
{
	/*
	 * Any user can ask, and must not get the CPU before others: not WQ_HIGHPRI. No cgroup is
	 * charged for a worker's time: one at a time, of each NUMA node since Linux 6.9.
	 */
	wq = alloc_workqueue("kunwind-threads", WQ_UNBOUND | WQ_SYSFS, 1);
	ends = alloc_workqueue("kunwind-ends", WQ_UNBOUND, 0);
	if (wq && ends)
		return 0;
	kw_threads_exit();
	return -ENOMEM;
}

void kw_threads_exit(void)
{
	if (wq)
		destroy_workqueue(wq);
	if (ends)
		destroy_workqueue(ends);
}

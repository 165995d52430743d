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
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <kunwind/kunwind.h>
#include "stats.h"
#include "thread.h"
#include "times.h"
#include "walk.h"
#include "walk_place.h"

static struct workqueue_struct *wq;

/* One walk: on the stack of the task that waits for it. */
struct request {
	struct work_struct work;
	struct task_struct *task;
	struct mm_struct *mm;
	/* How often the thread had left a CPU before the walk. */
	unsigned long switches;
	u64 *frames;
	u32 capacity;
	struct kuw_result *result;
	u64 space;
	bool done;
};

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
 * Whether @r->task has been on no CPU since @r->switches was read, and had @r->mm. The mm of a
 * task changes only while the task is on a CPU. So what was copied meanwhile is of that mm.
 */
static bool has_slept(const struct request *r)
{
	/* All reads of its registers and of its stack come before. */
	smp_rmb();
	return !is_on_cpu(r->task) && count_switches(r->task) == r->switches &&
	       READ_ONCE(r->task->mm) == r->mm &&
	       !(READ_ONCE(r->task->flags) & PF_EXITING);
}

/* Context: process context, of a thread with @r->mm; or of a worker. */
static void walk_asleep(struct request *r)
{
	bool own = current->mm == r->mm;
	struct pt_regs regs;

	/* The task may be exiting, and its kernel stack may go. */
	if (copy_from_kernel_nofault(&regs, task_pt_regs(r->task), sizeof(regs)) ||
	    !has_slept(r))
		return;
	if (!own)
		kthread_use_mm(r->mm);
	r->space = kw_walk_other(r->task, &regs, r->frames, r->capacity, r->result);
	if (!own)
		kthread_unuse_mm(r->mm);
	r->done = has_slept(r);
}

static void run(struct work_struct *work)
{
	walk_asleep(container_of(work, struct request, work));
}

/* Context: an interrupt on the CPU where the thread was; or the thread itself. */
static void walk_running(void *data)
{
	struct request *r = data;

	if (current != r->task || current->mm != r->mm)
		return;
	r->space = kw_walk(NULL, NULL, r->frames, r->capacity, r->result);
	r->done = true;
}

/* Return: whether the thread was on a CPU. If so, or if not, @r->done says if it worked. */
static bool attempt(struct request *r)
{
	if (is_on_cpu(r->task)) {
		smp_call_function_single(task_cpu(r->task), walk_running, r, true);
		return true;
	}
	r->switches = count_switches(r->task);
	/* Pairs with has_slept(). */
	smp_rmb();
	if (current->mm == r->mm) {
		walk_asleep(r);
		return false;
	}
	INIT_WORK_ONSTACK(&r->work, run);
	queue_work(wq, &r->work);
	flush_work(&r->work);
	destroy_work_on_stack(&r->work);
	return false;
}

/**
 * kw_walk_thread() - walk a thread's user stack
 * @task: the thread
 * @mm: its mm, whose users the caller holds
 * @to: where the frames go, and how the walk ended
 *
 * Context: process context, sleeps. The caller holds a consumer that covers @mm.
 * Return: 0; -ESRCH if the thread exits or has another mm now; -EAGAIN if it kept moving;
 *	-EINTR after a fatal signal.
 */
int kw_walk_thread(struct task_struct *task, struct mm_struct *mm, struct kw_thread_stack *to)
{
	struct request r = {
		.task = task,
		.mm = mm,
		.frames = to->frames,
		.capacity = to->capacity,
		.result = &to->result,
	};
	int tries;

	might_sleep();
	for (tries = 0; tries < KW_THREAD_TRIES; tries++) {
		if (READ_ONCE(task->mm) != mm || READ_ONCE(task->flags) & PF_EXITING)
			return -ESRCH;
		to->running = attempt(&r);
		if (r.done) {
			to->space = r.space;
			kw_count_stop(to->result.stop);
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
	struct kw_thread_stack to = { .frames = frames, .capacity = capacity };
	struct mm_struct *mm = get_task_mm(task);
	int ret;

	if (!mm)
		return -ESRCH;
	ret = kw_walk_thread(task, mm, &to);
	/* The end of an mm can wait for its user's I/O. */
	mmput_async(mm);
	if (ret)
		return ret;
	kw_result_tell(&to.result, to.space, result);
	*running = to.running;
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
	return wq ? 0 : -ENOMEM;
}

void kw_threads_exit(void)
{
	destroy_workqueue(wq);
}

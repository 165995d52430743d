// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The request KUNWIND_IOC_THREAD: the stack of another thread. */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <uapi/linux/kunwind.h>
#include "consumer.h"
#include "coverage.h"
#include "device.h"
#include "permission.h"
#include "thread.h"

/* Return: the thread @tid of the process @pid, with a reference; NULL if there is none. */
static struct task_struct *find_thread(pid_t pid, pid_t tid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_vpid(tid), PIDTYPE_PID);
	if (task && task_tgid_vnr(task) == pid)
		get_task_struct(task);
	else
		task = NULL;
	rcu_read_unlock();
	return task;
}

/* Cover no other process. The caller has @handle->lock. */
static void uncover(struct kw_handle *handle)
{
	lockdep_assert_held(&handle->lock);
	kunwind_detach(handle->other);
	handle->other = NULL;
}

/* Cover the process of @task, which has @mm. The caller has @handle->lock. */
static int cover(struct kw_handle *handle, struct task_struct *task, struct mm_struct *mm)
{
	struct kunwind_consumer *c = handle->other;

	lockdep_assert_held(&handle->lock);
	if (!c || c->mm != mm) {
		uncover(handle);
		c = kw_consumer_open(mm, task->tgid, task_uid(task));
		if (IS_ERR(c))
			return PTR_ERR(c);
		handle->other = c;
	}
	/* A snapshot that knows of all events can still lack a table. */
	if (kw_space_state(c->space) == KW_CURRENT && !kw_space_is_due(c->space))
		return 0;
	return kw_attach_one(mm, task->tgid, task_uid(task));
}

static int walk(struct kw_handle *handle, struct kw_thread_stack *s)
{
	struct task_struct *task = s->task;
	struct mm_struct *mm = s->mm;
	int ret;

	if (mm == handle->own->mm && mm == current->mm) {
		ret = kw_space_refresh(handle->own->space, mm);
		return ret ?: kw_walk_thread(s);
	}
	if (mutex_lock_killable(&handle->lock))
		return -EINTR;
	ret = cover(handle, task, mm);
	/* That took time, in which the task may have forbidden it. */
	if (!ret && mm != current->mm)
		ret = kw_may_see(task, mm);
	ret = ret ?: kw_walk_thread(s);
	mutex_unlock(&handle->lock);
	return ret;
}

/*
 * Return: the mm of @task, if the caller may see its stack, for mmdrop(); or ERR_PTR(). Without
 * its users: this request can wait for long, and the process may exit meanwhile.
 */
static struct mm_struct *get_visible_mm(struct task_struct *task)
{
	struct mm_struct *mm = kw_grab_mm(task);
	int ret;

	if (!mm)
		return ERR_PTR(-ESRCH);
	if (mm == current->mm)
		return mm;
	/*
	 * If the task starts a program, maybe with another privilege, it has another mm, and this
	 * one may be another process's, as after vfork(): so check both together. After this,
	 * kw_walk_thread() gives a stack only of a moment at which the task had this one.
	 */
	ret = kw_may_see(task, mm);
	if (!ret)
		return mm;
	mmdrop(mm);
	return ERR_PTR(ret);
}

static int answer(struct kw_handle *handle, struct kw_thread_stack *s, struct kunwind_thread *t,
		  struct kunwind_frame __user *to)
{
	int ret;

	s->mm = get_visible_mm(s->task);
	ret = PTR_ERR_OR_ZERO(s->mm);
	if (!ret) {
		ret = walk(handle, s);
		mmdrop(s->mm);
	}
	if (ret == -EACCES && !mutex_lock_killable(&handle->lock)) {
		uncover(handle);
		mutex_unlock(&handle->lock);
	}
	if (ret)
		return ret;
	t->count = s->result.count;
	t->proven = s->result.proven;
	t->stop = s->result.stop;
	t->state = s->running ? KUNWIND_THREAD_ON_CPU : KUNWIND_THREAD_OFF_CPU;
	return kw_put_frames(to, s->frames, &s->result, 0, true);
}

long kw_other_stack(struct kw_handle *handle, union kw_argument *arg, void __user *to)
{
	struct kunwind_thread *t = &arg->thread;
	struct kw_thread_stack stack = {};
	long ret = -ENOMEM;

	if (t->flags || t->reserved || !t->capacity || t->capacity > KW_MAX_CAPACITY)
		return -EINVAL;
	stack.task = find_thread(t->pid, t->tid);
	if (!stack.task)
		return -ESRCH;
	stack.capacity = min_t(u32, t->capacity, KUNWIND_MAX_FRAMES);
	stack.frames = kvmalloc_array(stack.capacity, sizeof(*stack.frames), GFP_KERNEL_ACCOUNT);
	if (stack.frames)
		ret = answer(handle, &stack, t, to);
	kvfree(stack.frames);
	put_task_struct(stack.task);
	return ret;
}

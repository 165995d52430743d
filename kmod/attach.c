// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * When a tracer attaches, it covers the processes that run already. It also covers
 * sleeping ones, which would not catch up themselves for a long time. It makes one
 * pass, with one budget of time, and looks again at those whose mmap_lock was taken.
 * What is missing after that, each process does itself when it returns to user mode.
 */
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uidgid.h>
#include "consumer.h"
#include "coverage.h"
#include "owner.h"
#include "times.h"

static unsigned int attach_work_ms = KW_ATTACH_WORK_MS;
module_param(attach_work_ms, uint, 0444);
MODULE_PARM_DESC(attach_work_ms,
		 "Time that an attaching tracer may spend compiling tables (ms; default: 10000)");

/*
 * Return: the mm of @thread, by mmgrab(); NULL if it has none. Nobody holds the users of another
 * process's mm for long: the end of an mm can wait for its user's I/O (exit_aio()).
 */
struct mm_struct *kw_grab_mm(struct task_struct *thread)
{
	struct mm_struct *mm;

	task_lock(thread);
	mm = thread->flags & PF_KTHREAD ? NULL : thread->mm;
	if (mm)
		mmgrab(mm);
	task_unlock(thread);
	return mm;
}

/* The same for a process, whose main thread may have exited. */
static struct mm_struct *grab_mm_of(struct task_struct *process)
{
	struct mm_struct *mm = NULL;
	struct task_struct *thread;

	for_each_thread(process, thread) {
		mm = kw_grab_mm(thread);
		if (mm)
			break;
	}
	return mm;
}

/*
 * An mm to cover, held by mmgrab(); a process that has the mm; the real user of that
 * process; the user whose budget pays (kw_owner_uid()).
 */
struct subject {
	struct mm_struct *mm;
	pid_t pid;
	kuid_t uid;
	uid_t owner;
};

/*
 * List the processes of @uid, or all (KW_EVERYBODY).
 * Return: how many there are; at most @capacity of them are in @subjects.
 */
static unsigned int list_subjects(struct subject *subjects, unsigned int capacity,
				  kuid_t uid)
{
	struct task_struct *process;
	unsigned int count = 0;

	rcu_read_lock();
	for_each_process(process) {
		struct mm_struct *mm = NULL;

		if (uid_valid(uid) && !uid_eq(uid, task_uid(process)))
			continue;
		if (count < capacity)
			mm = grab_mm_of(process);
		if (mm)
			subjects[count] = (struct subject){
				.mm = mm,
				.pid = process->tgid,
				.uid = task_uid(process),
				.owner = __kuid_val(kw_owner_uid(process)),
			};
		if (mm || count >= capacity)
			count++;
	}
	rcu_read_unlock();
	return count;
}

static int by_owner(const void *a, const void *b)
{
	const struct subject *s = a, *t = b;

	if (s->owner != t->owner)
		return s->owner < t->owner ? -1 : 1;
	return s->pid < t->pid ? -1 : s->pid > t->pid;
}

/* Return: sorted by owner, to be freed by kvfree(); NULL if there is no memory. */
static struct subject *list_all(unsigned int *count, kuid_t uid)
{
	unsigned int capacity = 1024, i;
	struct subject *subjects;

	for (;; capacity = *count + *count / 4) {
		subjects = kw_alloc(array_size(capacity, sizeof(*subjects)), KW_GFP);
		if (!subjects)
			return NULL;
		*count = list_subjects(subjects, capacity, uid);
		if (*count <= capacity)
			break;
		for (i = 0; i < capacity; i++)
			mmdrop(subjects[i].mm);
		kvfree(subjects);
	}
	sort(subjects, *count, sizeof(*subjects), by_owner, NULL);
	return subjects;
}

/*
 * Cover @subjects, of which there are *@count. Keep those whose mmap_lock was taken, and
 * drop the others. Root's come first. Each other user gets half of the time that is left
 * until @end, as its files decide how long compiling them takes.
 * Return: 0, or -EINTR after a fatal signal.
 */
static int cover_all(struct subject *subjects, unsigned int *count, unsigned long end)
{
	unsigned int i, busy = 0;
	unsigned long deadline = end;
	int ret = 0;

	for (i = 0; i < *count; i++) {
		const struct subject s = subjects[i];

		if (s.owner && (!i || s.owner != subjects[i - 1].owner))
			deadline = end - max_t(long, end - jiffies, 0) / 2;
		if (ret != -EINTR)
			ret = fatal_signal_pending(current) ? -EINTR :
			      kw_space_cover(s.mm, s.pid, s.uid, deadline, false);
		if (ret == -EBUSY)
			subjects[busy++] = s;
		else
			mmdrop(s.mm);
		cond_resched();
	}
	*count = busy;
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/*
 * Cover the processes of @uid, or all (KW_EVERYBODY). fork() of a large process holds its
 * mmap_lock for milliseconds, so look again for a moment, at all such processes together.
 * The hooks cover processes that appear meanwhile: a child is on the list of processes
 * before wake_up_new_task() comes, and a new program's mm is the task's mm before anything
 * of the program is mapped.
 *
 * Context: process context, sleeps.
 * Return: 0; -EINTR after a fatal signal; -ENOMEM.
 */
int kw_attach(kuid_t uid)
{
	unsigned long end = jiffies + msecs_to_jiffies(attach_work_ms), patience;
	struct subject *subjects;
	unsigned int count;
	int ret;

	subjects = list_all(&count, uid);
	if (!subjects)
		return -ENOMEM;
	ret = cover_all(subjects, &count, end);
	patience = jiffies + KW_BUSY_PATIENCE;
	while (!ret && count && time_before(jiffies, patience)) {
		schedule_timeout_killable(1);
		ret = cover_all(subjects, &count, end);
	}
	while (count)
		mmdrop(subjects[--count].mm);
	kvfree(subjects);
	return ret;
}

/*
 * Cover one process, @pid of the user @uid. It has @mm, which the caller holds. This does
 * not wait for the mmap_lock: a request for the stacks of all processes would wait for
 * each that a user keeps busy.
 * Context: process context, sleeps. Return: 0; -EINTR after a fatal signal.
 */
int kw_attach_one(struct mm_struct *mm, pid_t pid, kuid_t uid)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(attach_work_ms);
	int ret = kw_space_cover(mm, pid, uid, deadline, true);

	return ret == -EBUSY ? 0 : ret;
}

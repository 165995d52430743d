// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Consumers: the first one brings hooks and the table cache up, the last one
 * takes them down. Not at once when it was an open device: programs that open
 * it one after another would have the kernel's text patched all the time.
 */
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include "build.h"
#include "consumer.h"
#include "hooks.h"
#include "owner.h"
#include "pending.h"
#include "snapshot.h"
#include "space.h"
#include "stats.h"
#include "cache.h"
#include "walks.h"

/* How long hooks and tables stay after the last close of the device. */
#define LINGER	HZ

/* How long, in all, who attaches waits for others who are taking a snapshot. */
#define PATIENCE	(2 * HZ)

/*
 * How long who attaches works for the processes of one user, whose files decide how long
 * that would take; what is missing then they do themselves. Root has no such limit.
 */
unsigned long kw_attach_work __read_mostly;

static DEFINE_MUTEX(consumers_lock);
/* Under consumers_lock: */
static bool is_up;
static unsigned int nr_consumers;
static unsigned int nr_system;

static int bring_up(void)
{
	int ret;

	lockdep_assert_held(&consumers_lock);
	if (is_up)
		return 0;
	ret = kw_walks_open();
	if (ret)
		return ret;
	kw_tables_open();
	ret = kw_hooks_register();
	if (ret)
		goto close;
	is_up = true;
	return 0;

close:
	kw_tables_close();
	kw_walks_close();
	return ret;
}

static void take_down(void)
{
	lockdep_assert_held(&consumers_lock);
	if (!is_up || nr_consumers)
		return;
	kw_hooks_unregister();
	kw_pending_drain();
	/* Snapshots put their tables; then nobody uses them. */
	kw_snapshots_flush();
	kw_tables_close();
	/* A walk that began under a consumer may still be running. */
	synchronize_rcu();
	kw_walks_close();
	is_up = false;
}

static void take_down_later(struct work_struct *work)
{
	mutex_lock(&consumers_lock);
	take_down();
	mutex_unlock(&consumers_lock);
}

static DECLARE_DELAYED_WORK(linger, take_down_later);

static int enlist(const struct kunwind_consumer *c)
{
	int ret;

	if (mutex_lock_killable(&consumers_lock))
		return -EINTR;
	ret = bring_up();
	if (ret)
		goto unlock;
	nr_consumers++;
	kw_gauge_add(consumers, 1);
	if (!c->mm && !nr_system++)
		kw_spaces_set_system(true);
unlock:
	mutex_unlock(&consumers_lock);
	return ret;
}

static void delist(const struct kunwind_consumer *c)
{
	bool last;

	mutex_lock(&consumers_lock);
	if (!c->mm && !--nr_system)
		kw_spaces_set_system(false);
	kw_gauge_sub(consumers, 1);
	last = !--nr_consumers;
	if (last && !c->mm)
		take_down();
	mutex_unlock(&consumers_lock);
	if (last && c->mm) {
		kw_pending_drain();
		mod_delayed_work(system_long_wq, &linger, LINGER);
	}
}

/* The mm of a process, whose main thread may be gone; a reference to its struct. */
static struct mm_struct *grab_mm(struct task_struct *process)
{
	struct mm_struct *mm = NULL;
	struct task_struct *thread;

	for_each_thread(process, thread) {
		task_lock(thread);
		if (thread->mm && !(thread->flags & PF_KTHREAD)) {
			mm = thread->mm;
			mmgrab(mm);
		}
		task_unlock(thread);
		if (mm)
			break;
	}
	return mm;
}

/* Whom to cover: an mm, by mmgrab(), a process that has it, and whose that is. */
struct subject {
	struct mm_struct *mm;
	pid_t pid;
	uid_t uid;
};

/* Return: how many there are; at most @capacity are in @subjects. */
static unsigned int list_subjects(struct subject *subjects, unsigned int capacity)
{
	struct task_struct *process;
	unsigned int count = 0;

	rcu_read_lock();
	for_each_process(process) {
		struct mm_struct *mm = NULL;

		if (count < capacity)
			mm = grab_mm(process);
		if (mm)
			subjects[count] = (struct subject){
				.mm = mm,
				.pid = process->tgid,
				.uid = __kuid_val(kw_owner_uid(process)),
			};
		if (mm || count >= capacity)
			count++;
	}
	rcu_read_unlock();
	return count;
}

static int by_user(const void *a, const void *b)
{
	const struct subject *s = a, *t = b;

	if (s->uid != t->uid)
		return s->uid < t->uid ? -1 : 1;
	return s->pid < t->pid ? -1 : s->pid > t->pid;
}

static int cover(const struct subject *subject, unsigned long lock_deadline,
		 unsigned long deadline)
{
	bool own = subject->mm == current->mm;
	struct kw_patience patience = {
		.own = own,
		.may_hang = own,
		.deadline = own ? kw_no_deadline() : deadline,
	};
	int ret;

	if (!mmget_not_zero(subject->mm))
		return 0;
	ret = kw_space_cover(subject->mm, subject->pid, lock_deadline, &patience);
	/* What the end of an mm waits for is its user's business: exit_aio(). */
	mmput_async(subject->mm);
	/* One that cannot be covered, for want of memory or time, says so in its walks. */
	return ret == -EINTR ? ret : 0;
}

/*
 * Cover all processes. Those that appear meanwhile are the hooks' business: a
 * child is on the list of processes before sched_process_fork comes, and a new
 * program's mm is the task's before anything of the program is mapped.
 */
static int cover_system(void)
{
	unsigned long lock_deadline = jiffies + PATIENCE, deadline = jiffies;
	unsigned int capacity = 1024, count, i;
	struct subject *subjects;
	int ret = 0;

	for (;; capacity = count + count / 4) {
		subjects = kvmalloc_array(capacity, sizeof(*subjects),
					  GFP_KERNEL);
		if (!subjects)
			return -ENOMEM;
		count = list_subjects(subjects, capacity);
		if (count <= capacity)
			break;
		for (i = 0; i < capacity; i++)
			mmdrop(subjects[i].mm);
		kvfree(subjects);
	}
	sort(subjects, count, sizeof(*subjects), by_user, NULL);
	for (i = 0; i < count; i++) {
		uid_t uid = subjects[i].uid;

		if (!i || uid != subjects[i - 1].uid)
			deadline = uid ? jiffies + kw_attach_work :
					 kw_no_deadline();
		if (!ret)
			ret = cover(&subjects[i], lock_deadline, deadline);
		mmdrop(subjects[i].mm);
		cond_resched();
	}
	kvfree(subjects);
	return ret;
}

static int cover_own(struct kunwind_consumer *c)
{
	struct kw_space *space = kw_space_hold(c->mm);

	if (IS_ERR(space))
		return PTR_ERR(space);
	c->space = space;
	return kw_space_catch_up(space, c->mm, atomic64_read(&space->wanted), true);
}

/**
 * kw_consumer_open() - begin to consume
 * @mm: of whom: current->mm, or NULL for the whole system
 *
 * Context: process context, sleeps.
 * Return: the consumer, or ERR_PTR() as kunwind_attach() says.
 */
struct kunwind_consumer *kw_consumer_open(struct mm_struct *mm)
{
	struct kunwind_consumer *c;
	int ret;

	might_sleep();
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->mm = mm;
	ret = enlist(c);
	if (ret)
		goto free;
	if (mm)
		mmgrab(mm);
	ret = mm ? cover_own(c) : cover_system();
	if (!ret)
		return c;
	kw_consumer_close(c);
	return ERR_PTR(ret);

free:
	kfree(c);
	return ERR_PTR(ret);
}

void kw_consumer_close(struct kunwind_consumer *c)
{
	if (c->space)
		kw_space_unhold(c->space);
	delist(c);
	if (c->mm)
		mmdrop(c->mm);
	kfree(c);
}

struct kunwind_consumer *kunwind_attach(void)
{
	return kw_consumer_open(NULL);
}
EXPORT_SYMBOL_GPL(kunwind_attach);

void kunwind_detach(struct kunwind_consumer *consumer)
{
	if (!IS_ERR_OR_NULL(consumer))
		kw_consumer_close(consumer);
}
EXPORT_SYMBOL_GPL(kunwind_detach);

/* The module goes: nobody consumes, and nobody can begin to. */
void kw_consumers_exit(void)
{
	cancel_delayed_work_sync(&linger);
	mutex_lock(&consumers_lock);
	take_down();
	mutex_unlock(&consumers_lock);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A thread starts a program between two steps of a request for its stack.
 *
 * Parameters:
 *	handover	Before this step, requests wait until that has happened, five seconds at
 *			most: kw_may_see, whether the caller may see the thread, whose memory is
 *			looked up; kw_walk_thread, the walk. None: nowhere.
 *			Reads how many have begun to wait since then
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include "kunwind-test.h"

static DEFINE_MUTEX(lock);
/* Under lock: */
static struct kprobe *probed;
static atomic_t waited;

static void wait_for_execve(struct task_struct *task, const struct mm_struct *mm)
{
	int ms;

	atomic_inc(&waited);
	for (ms = 0; ms < 5000; ms++) {
		if (READ_ONCE(task->mm) != mm && !rwsem_is_locked(&task->signal->exec_update_lock))
			break;
		mdelay(1);
	}
}

/* kw_may_see(task, mm) */
static int before_check(struct kprobe *probe, struct pt_regs *regs)
{
	wait_for_execve((void *)regs_get_kernel_argument(regs, 0),
			(void *)regs_get_kernel_argument(regs, 1));
	return 0;
}

/* How struct kw_thread_stack begins (kmod/thread.h). */
struct request {
	struct task_struct *task;
	const struct mm_struct *mm;
};

/* kw_walk_thread(request) */
static int before_walk(struct kprobe *probe, struct pt_regs *regs)
{
	const struct request *r = (void *)regs_get_kernel_argument(regs, 0);

	wait_for_execve(r->task, r->mm);
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "kw_may_see", .pre_handler = before_check },
	{ .symbol_name = "kw_walk_thread", .pre_handler = before_walk },
};

void handover_stop(void)
{
	if (probed)
		unregister_kprobe(probed);
	probed = NULL;
}

static int handover_set(const char *value, const struct kernel_param *kp)
{
	int i, ret = sysfs_streq(value, "") ? 0 : -EINVAL;

	mutex_lock(&lock);
	handover_stop();
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!sysfs_streq(value, probes[i].symbol_name))
			continue;
		/* unregister_kprobe() leaves what the next registration refuses. */
		probes[i].addr = NULL;
		probes[i].flags = 0;
		atomic_set(&waited, 0);
		ret = register_kprobe(&probes[i]);
		if (!ret)
			probed = &probes[i];
	}
	mutex_unlock(&lock);
	return ret;
}

static int handover_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&waited));
}

static const struct kernel_param_ops handover_ops = {
	.set = handover_set,
	.get = handover_get,
};

module_param_cb(handover, &handover_ops, NULL, 0600);

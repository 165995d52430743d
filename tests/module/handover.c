// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A thread gets a memory of its own between two steps of a request for its stack: those
 * that look up its memory, and whether its caller may see it.
 *
 * Parameters:
 *	handover	1: requests wait there until that has happened, five seconds at most.
 *			Reads how many have begun to wait since then
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include "kunwind-test.h"

static DEFINE_MUTEX(lock);
/* Under lock: */
static bool probed;
static atomic_t waited;

/* kw_may_see(task, mm) */
static int wait_for_execve(struct kprobe *probe, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);
	const void *mm = (void *)regs_get_kernel_argument(regs, 1);
	int ms;

	atomic_inc(&waited);
	for (ms = 0; ms < 5000; ms++) {
		if (READ_ONCE(task->mm) != mm && !rwsem_is_locked(&task->signal->exec_update_lock))
			break;
		mdelay(1);
	}
	return 0;
}

static struct kprobe probe = {
	.symbol_name = "kw_may_see",
	.pre_handler = wait_for_execve,
};

void handover_stop(void)
{
	if (probed)
		unregister_kprobe(&probe);
	probed = false;
}

static int handover_set(const char *value, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(value, &on);

	if (ret)
		return ret;
	mutex_lock(&lock);
	handover_stop();
	if (on) {
		/* unregister_kprobe() leaves what the next registration refuses. */
		probe.addr = NULL;
		probe.flags = 0;
		atomic_set(&waited, 0);
		ret = register_kprobe(&probe);
		probed = !ret;
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

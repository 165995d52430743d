// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A task waits in the middle of kunwind, so that a test can do something at that moment.
 *
 * It waits where it must not sleep, so it keeps its CPU: a test needs another one.
 *
 * Parameters:
 *	hold	"STEP NUMBER": a task that comes to this step waits until the parameter is
 *		written again, or until it is killed; five seconds at most. Empty: no task waits.
 *		Reads how many wait. The steps are:
 *
 *	kw_space_leave PID	The task has published a snapshot of the process PID that lacks
 *				something. The time of the next attempt is not set yet.
 *	kw_walk_other PID	The task is a worker, about to walk the process PID.
 *	kw_is_wanted UID	The task has found that no consumer wants the processes of UID.
 *	kw_attach PID		The task attaches, and is about to sleep before it looks again at
 *				the process PID, whose mmap_lock it finds taken each time.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include "kunwind-test.h"
#include "space.h"

static DEFINE_MUTEX(lock);
/* Written under lock. */
static bool is_on;
static int number;
static atomic_t waiting;

static void wait(void)
{
	unsigned long end = jiffies + 5 * HZ;

	atomic_inc(&waiting);
	while (READ_ONCE(is_on) && !fatal_signal_pending(current) && time_before(jiffies, end))
		mdelay(1);
	atomic_dec(&waiting);
}

/* Handlers of a function's begin return 1 if nothing is to be called as it returns. */

/* kw_space_leave(space) */
static int before_leave(struct kretprobe_instance *call, struct pt_regs *regs)
{
	const struct kw_space *space = (void *)regs_get_kernel_argument(regs, 0);

	if (space->pid == number)
		wait();
	return 1;
}

/* kw_walk_other(task, ...) */
static int before_walk(struct kretprobe_instance *call, struct pt_regs *regs)
{
	const struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);

	if (task->pid == number)
		wait();
	return 1;
}

/* kw_is_wanted(uid) */
static int before_wanted(struct kretprobe_instance *call, struct pt_regs *regs)
{
	return (int)regs_get_kernel_argument(regs, 0) != number;
}

static int after_wanted(struct kretprobe_instance *call, struct pt_regs *regs)
{
	if (!(u8)regs_return_value(regs))
		wait();
	return 0;
}

/* Which task has looked at the process. */
static const struct task_struct *tracer;

/* kw_space_cover(mm, pid, ...) */
static int before_cover(struct kretprobe_instance *call, struct pt_regs *regs)
{
	return (int)regs_get_kernel_argument(regs, 1) != number;
}

static int after_cover(struct kretprobe_instance *call, struct pt_regs *regs)
{
	WRITE_ONCE(tracer, current);
	regs_set_return_value(regs, -EBUSY);
	return 0;
}

/* schedule_timeout_killable() */
static int before_sleep(struct kretprobe_instance *call, struct pt_regs *regs)
{
	if (current == READ_ONCE(tracer))
		wait();
	return 1;
}

static struct held {
	const char *step;
	struct kretprobe probe;
	bool probed;
} all[] = {
	{
		"kw_space_leave",
		{ .kp.symbol_name = "kw_space_leave", .entry_handler = before_leave },
	},
	{
		"kw_walk_other",
		{ .kp.symbol_name = "kw_walk_other", .entry_handler = before_walk },
	},
	{
		"kw_is_wanted",
		{ .kp.symbol_name = "kw_is_wanted", .entry_handler = before_wanted,
		  .handler = after_wanted },
	},
	{
		"kw_attach",
		{ .kp.symbol_name = "kw_space_cover", .entry_handler = before_cover,
		  .handler = after_cover },
	},
	{
		"kw_attach",
		{ .kp.symbol_name = "schedule_timeout_killable", .entry_handler = before_sleep },
	},
};

void hold_stop(void)
{
	int i;

	WRITE_ONCE(is_on, false);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].probed)
			unregister_kretprobe(&all[i].probe);
		all[i].probed = false;
	}
}

static int hold_start(const char *step)
{
	int i, ret = -EINVAL;

	is_on = true;
	tracer = NULL;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (strcmp(step, all[i].step))
			continue;
		/* unregister_kretprobe() leaves what the next registration refuses. */
		all[i].probe.kp.addr = NULL;
		all[i].probe.kp.flags = 0;
		ret = register_kretprobe(&all[i].probe);
		if (ret)
			break;
		all[i].probed = true;
	}
	if (ret)
		hold_stop();
	return ret;
}

static int hold_set(const char *value, const struct kernel_param *kp)
{
	char step[32];
	int ret = 0;

	mutex_lock(&lock);
	hold_stop();
	if (!sysfs_streq(value, ""))
		ret = sscanf(value, "%31s %d", step, &number) == 2 ? hold_start(step) : -EINVAL;
	mutex_unlock(&lock);
	return ret;
}

static int hold_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&waiting));
}

static const struct kernel_param_ops hold_ops = {
	.set = hold_set,
	.get = hold_get,
};

module_param_cb(hold, &hold_ops, NULL, 0600);

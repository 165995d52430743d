// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * /dev/kunwind-test: read() gives the caller's stack as a tracer gets it. Unlike an
 * ioctl of /dev/kunwind it consumes nothing, brings no map up to date, and answers
 * in any process. pread() at an offset gives the stack of the thread with that number.
 */
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>
#include "kunwind-test.h"

struct answer {
	u16 stop;
	/* Whether another thread was on a CPU. */
	u16 running;
	u32 proven;
	u64 frames[];
};

static int walk_thread(pid_t tid, struct answer *answer, u32 capacity,
		       struct kunwind_result *result)
{
	struct pid *pid = find_get_pid(tid);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	bool running = false;
	int ret = -ESRCH;

	put_pid(pid);
	if (!task)
		return ret;
	ret = kunwind_walk_thread(task, answer->frames, capacity, result, &running);
	put_task_struct(task);
	answer->running = running;
	return ret;
}

/* Return: the size of the answer, as long as there is room for frames in @room. */
static ssize_t stack_read(struct file *file, char __user *to, size_t room,
			  loff_t *offset)
{
	struct kunwind_result result;
	struct answer *answer;
	u32 capacity;
	ssize_t ret = 0;

	if (room < sizeof(*answer))
		return -EINVAL;
	capacity = min_t(size_t, (room - sizeof(*answer)) / sizeof(answer->frames[0]),
			 KUNWIND_MAX_FRAMES);
	answer = kvzalloc(struct_size(answer, frames, capacity), GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	if (*offset)
		ret = walk_thread(*offset, answer, capacity, &result);
	else
		kunwind_walk(NULL, answer->frames, capacity, &result);
	if (!ret) {
		answer->stop = result.stop;
		answer->proven = result.proven;
		ret = struct_size(answer, frames, result.count);
		if (copy_to_user(to, answer, ret))
			ret = -EFAULT;
	}
	kvfree(answer);
	return ret;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.read = stack_read,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kunwind-test",
	.mode = 0666,
	.fops = &operations,
};

int device_init(void)
{
	return misc_register(&device);
}

void device_exit(void)
{
	misc_deregister(&device);
}

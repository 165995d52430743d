// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * /dev/kunwind-test: read() gives the caller's stack as a tracer gets it. Unlike an
 * ioctl of /dev/kunwind it consumes nothing, brings no map up to date, and answers
 * in any process.
 */
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/uaccess.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>
#include "kunwind-test.h"

struct answer {
	u32 stop;
	u32 proven;
	u64 frames[];
};

/* Return: the size of the answer, as long as there is room for frames in @room. */
static ssize_t stack_read(struct file *file, char __user *to, size_t room,
			  loff_t *offset)
{
	struct kunwind_result result;
	struct answer *answer;
	size_t size;
	u32 capacity;

	if (room < sizeof(*answer))
		return -EINVAL;
	capacity = min_t(size_t, (room - sizeof(*answer)) / sizeof(answer->frames[0]),
			 KUNWIND_MAX_FRAMES);
	answer = kvmalloc(struct_size(answer, frames, capacity), GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	kunwind_walk(NULL, answer->frames, capacity, &result);
	answer->stop = result.stop;
	answer->proven = result.proven;
	size = struct_size(answer, frames, result.count);
	if (copy_to_user(to, answer, size)) {
		kvfree(answer);
		return -EFAULT;
	}
	kvfree(answer);
	return size;
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

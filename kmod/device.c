// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* /dev/kunwind; its manual is include/uapi/linux/kunwind.h. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <uapi/linux/kunwind.h>
#include "consumer.h"
#include "coverage.h"
#include "device.h"

/* The most frames that a caller may say he has room for. */
#define MAX_CAPACITY	SZ_1M

static int device_open(struct inode *inode, struct file *file)
{
	struct kunwind_consumer *c;

	if (!current->mm || (current->flags & PF_KTHREAD))
		return -EINVAL;
	c = kw_consumer_open(current->mm);
	if (IS_ERR(c))
		return PTR_ERR(c);
	file->private_data = c;
	return nonseekable_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	kw_consumer_close(file->private_data);
	return 0;
}

/* A request's argument: copied in, worked on, copied out up to the caller's size. */
union argument {
	__u32 size;
	struct kunwind_version version;
	struct kunwind_stack stack;
};

static long do_version(struct kunwind_consumer *c, union argument *arg,
		       void __user *uarg, u32 size)
{
	struct kunwind_version *v = &arg->version;

	if (v->reserved)
		return -EINVAL;
	v->abi = KUNWIND_ABI_VERSION;
	v->max_frames = KUNWIND_MAX_FRAMES;
	return 0;
}

static long do_stack(struct kunwind_consumer *c, union argument *arg,
		     void __user *uarg, u32 size)
{
	struct kunwind_stack *s = &arg->stack;
	struct kunwind_result result;
	u64 *frames;
	u32 room;
	long ret;

	if (s->flags || s->reserved || !s->capacity || s->capacity > MAX_CAPACITY)
		return -EINVAL;
	if (c->mm != current->mm)
		return -EXDEV;
	/* A mapping whose recording was cut short by a signal, or by want of memory. */
	ret = kw_space_refresh(c->space, c->mm);
	if (ret)
		return ret;
	room = min_t(u64, (u64)s->capacity + s->skip, KUNWIND_MAX_FRAMES);
	frames = kvmalloc_array(room, sizeof(*frames), GFP_KERNEL_ACCOUNT);
	if (!frames)
		return -ENOMEM;
	kunwind_walk(NULL, frames, room, &result);
	s->count = result.count - min(result.count, s->skip);
	s->proven = result.proven - min(result.proven, s->skip);
	s->stop = result.stop;
	if (s->count && copy_to_user(uarg + size, frames + s->skip,
				     s->count * sizeof(*frames)))
		ret = -EFAULT;
	kvfree(frames);
	return ret;
}

static const struct request {
	u32 size;
	u32 min_size;
	long (*run)(struct kunwind_consumer *c, union argument *arg,
		    void __user *uarg, u32 size);
} requests[] = {
	/* min_size is that of the first published version, and stays. */
	[_IOC_NR(KUNWIND_IOC_VERSION)] = {
		.size = sizeof(struct kunwind_version),
		.min_size = 16,
		.run = do_version,
	},
	[_IOC_NR(KUNWIND_IOC_STACK)] = {
		.size = sizeof(struct kunwind_stack),
		.min_size = 32,
		.run = do_stack,
	},
};

static_assert(sizeof(struct kunwind_version) == 16);
static_assert(offsetof(struct kunwind_version, reserved) == 12);
static_assert(sizeof(struct kunwind_stack) == 32);
static_assert(offsetof(struct kunwind_stack, reserved) == 28);

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long param)
{
	void __user *uarg = (void __user *)param;
	const struct request *request;
	union argument arg;
	u32 size;
	long ret;

	if (_IOC_NR(cmd) >= ARRAY_SIZE(requests) ||
	    cmd != _IO(KUNWIND_IOC_MAGIC, _IOC_NR(cmd)))
		return -ENOTTY;
	request = &requests[array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(requests))];
	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < request->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, request->size, uarg, size);
	if (ret)
		return ret;
	/* It may have changed between the two reads. */
	arg.size = size;
	ret = request->run(file->private_data, &arg, uarg, size);
	if (ret)
		return ret;
	if (copy_to_user(uarg, &arg, min(size, request->size)))
		return -EFAULT;
	return 0;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kunwind",
	.mode = 0666,
	.fops = &device_fops,
};

int __init kw_device_init(void)
{
	return misc_register(&device);
}

void kw_device_exit(void)
{
	misc_deregister(&device);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* /dev/kunwind; its manual is include/uapi/linux/kunwind.h. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/linux/kunwind.h>
#include "compat/device.h"
#include "consumer.h"
#include "device.h"
#include "work.h"

static int device_open(struct inode *inode, struct file *file)
{
	struct kw_handle *handle;
	int ret;

	if (!current->mm || (current->flags & PF_KTHREAD))
		return -EINVAL;
	handle = kzalloc(sizeof(*handle), GFP_KERNEL_ACCOUNT);
	if (!handle)
		return -ENOMEM;
	handle->own = kw_consumer_open(current->mm, current->tgid, current_uid());
	if (IS_ERR(handle->own)) {
		ret = PTR_ERR(handle->own);
		kfree(handle);
		return ret;
	}
	/*
	 * The task compiles the tables when it is about to return to user mode, and waits for all
	 * files that it has mapped, those of file servers, too.
	 */
	kw_work_queue(current, handle->own->space, 0, U64_MAX);
	mutex_init(&handle->lock);
	file->private_data = handle;
	return nonseekable_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	struct kw_handle *handle = file->private_data;

	kunwind_detach(handle->other);
	kunwind_detach(handle->own);
	kfree(handle);
	return 0;
}

static long do_version(struct kw_handle *handle, union kw_argument *arg,
		       void __user *frames)
{
	struct kunwind_version *v = &arg->version;

	if (v->reserved)
		return -EINVAL;
	v->abi = KUNWIND_ABI_VERSION;
	v->max_frames = KUNWIND_MAX_FRAMES;
	v->max_skip = KUNWIND_MAX_SKIP;
	v->nr_stops = KUNWIND_NR_STOPS;
	v->stack_flags = 0;
	v->frame_flags = KUNWIND_FRAME_INTERRUPTED | KUNWIND_FRAME_GUESSED;
	return 0;
}

static const struct request {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	/* @frames: where to write frames, at the end of what the caller knows of the structure. */
	long (*run)(struct kw_handle *handle, union kw_argument *arg, void __user *frames);
} requests[] = {
#define REQUEST(NAME, type, function)				\
	[_IOC_NR(KUNWIND_IOC_ ## NAME)] = {			\
		.cmd = KUNWIND_IOC_ ## NAME,			\
		.size = sizeof(struct type),			\
		.min_size = KUNWIND_ ## NAME ## _SIZE_VER0,	\
		.run = (function),				\
	}
	REQUEST(VERSION, kunwind_version, do_version),
	REQUEST(STACK, kunwind_stack, kw_own_stack),
	REQUEST(THREAD, kunwind_thread, kw_other_stack),
	REQUEST(STACK_AT, kunwind_stack_at, kw_own_stack_at),
#undef REQUEST
};

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long param)
{
	void __user *uarg = (void __user *)param;
	const struct request *request;
	union kw_argument arg;
	u32 size;
	long ret;

	if (_IOC_NR(cmd) >= ARRAY_SIZE(requests))
		return -ENOTTY;
	request = &requests[array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(requests))];
	if (cmd != request->cmd)
		return -ENOTTY;
	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < request->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, request->size, uarg, size);
	if (ret)
		return ret;
	/* Another thread may have changed it between the two reads. */
	arg.size = size;
	ret = request->run(file->private_data, &arg, uarg + size);
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

/*
 * Not a misc device: misc_open() would hold a lock that every open() of such a device takes, of
 * /dev/fuse, too, while this module's open() registers hooks, or waits until others are gone.
 */
static int major;

static char *devnode(KW_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

/* Made by class_create(): the kernel may still read it when this module has gone. */
static struct class *class;

/* Return: 0, -errno. */
int __init kw_device_init(void)
{
	struct device *dev;
	int ret;

	class = kw_class_create("kunwind");
	if (IS_ERR(class))
		return PTR_ERR(class);
	class->devnode = devnode;
	major = register_chrdev(0, "kunwind", &device_fops);
	ret = min(major, 0);
	if (ret)
		goto no_chrdev;
	dev = device_create(class, NULL, MKDEV(major, 0), NULL, "kunwind");
	if (!IS_ERR(dev))
		return 0;
	ret = PTR_ERR(dev);
	unregister_chrdev(major, "kunwind");
no_chrdev:
	class_destroy(class);
	return ret;
}

void kw_device_exit(void)
{
	device_destroy(class, MKDEV(major, 0));
	unregister_chrdev(major, "kunwind");
	class_destroy(class);
}

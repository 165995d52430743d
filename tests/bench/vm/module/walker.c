// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-bench.ko, for benchmarks in a guest only: kunwind_walk() next to the
 * kernel's own walk by frame pointers, stack_trace_save_user().
 *
 * That function is not exported: a kprobe finds its address. A call through a
 * pointer that a kprobe found needs a kernel without IBT, which a guest of QEMU
 * has not.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>
#include "walker.h"

/* The memory of one walk, in either form. */
union frames {
	u64 kunwind[KUNWIND_MAX_FRAMES];
	unsigned long kernel[KUNWIND_MAX_FRAMES];
};

static unsigned int (*save_user)(unsigned long *store, unsigned int size);

static void walk(struct bench_walks *w, union frames *frames)
{
	struct kunwind_result result = { .stop = KUNWIND_STOP_COMPLETE };
	u32 i;

	/* Only this task's time. */
	preempt_disable();
	w->ns = ktime_get_ns();
	for (i = 0; i < w->count; i++) {
		if (w->walker == BENCH_KUNWIND)
			kunwind_walk(NULL, frames->kunwind, KUNWIND_MAX_FRAMES,
				     &result);
		else
			result.count = save_user(frames->kernel,
						 KUNWIND_MAX_FRAMES);
	}
	w->ns = ktime_get_ns() - w->ns;
	preempt_enable();
	w->frames = result.count;
	w->stop = result.stop;
}

static long walks_ioctl(void __user *arg)
{
	struct bench_walks w;
	union frames *frames;
	long ret = 0;

	if (copy_from_user(&w, arg, sizeof(w)))
		return -EFAULT;
	frames = kmalloc(sizeof(*frames), GFP_KERNEL);
	if (!frames)
		return -ENOMEM;
	walk(&w, frames);
	kfree(frames);
	if (copy_to_user(arg, &w, sizeof(w)))
		ret = -EFAULT;
	return ret;
}

static long attach_ioctl(struct file *file)
{
	struct kunwind_consumer *consumer;

	if (file->private_data)
		return -EBUSY;
	consumer = kunwind_attach();
	if (IS_ERR(consumer))
		return PTR_ERR(consumer);
	file->private_data = consumer;
	return 0;
}

static long bench_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case BENCH_WALK:
		return walks_ioctl((void __user *)arg);
	case BENCH_ATTACH:
		return attach_ioctl(file);
	}
	return -ENOTTY;
}

static int bench_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static int bench_release(struct inode *inode, struct file *file)
{
	if (file->private_data)
		kunwind_detach(file->private_data);
	return 0;
}

static const struct file_operations bench_fops = {
	.owner = THIS_MODULE,
	.open = bench_open,
	.release = bench_release,
	.unlocked_ioctl = bench_ioctl,
};

static struct miscdevice bench_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kunwind-bench",
	.fops = &bench_fops,
	.mode = 0600,
};

static int __init bench_init(void)
{
	struct kprobe probe = { .symbol_name = "stack_trace_save_user" };
	int ret;

	ret = register_kprobe(&probe);
	if (ret)
		return ret;
	save_user = (void *)probe.addr;
	unregister_kprobe(&probe);
	return misc_register(&bench_device);
}

static void __exit bench_exit(void)
{
	misc_deregister(&bench_device);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Benchmarks of kunwind, in a guest");
MODULE_LICENSE("Dual MIT/GPL");

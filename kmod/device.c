// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* /dev/kunwind; its manual is include/uapi/linux/kunwind.h. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <uapi/linux/kunwind.h>
#include "consumer.h"
#include "coverage.h"
#include "device.h"
#include "stats.h"
#include "walk.h"
#include "walk_place.h"

/* The most frames that a caller may say it has room for. */
#define MAX_CAPACITY	SZ_1M

static int device_open(struct inode *inode, struct file *file)
{
	struct kunwind_consumer *c;

	if (!current->mm || (current->flags & PF_KTHREAD))
		return -EINVAL;
	c = kw_consumer_open(current->mm, current_uid());
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

/* A request's argument: copied in, filled in, copied out up to the caller's size. */
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
	v->max_skip = KUNWIND_MAX_SKIP;
	v->nr_stops = KUNWIND_NR_STOPS;
	v->stack_flags = 0;
	v->frame_flags = KUNWIND_FRAME_INTERRUPTED | KUNWIND_FRAME_GUESSED;
	return 0;
}

/* Return: whether the stack has more frames than those that were written. */
static bool goes_on(const struct kuw_result *result)
{
	return result->stop == KUNWIND_STOP_CAPACITY ||
	       result->stop == KUNWIND_STOP_MAX_FRAMES;
}

/*
 * Walk without the @skip innermost frames, in pieces of KUNWIND_MAX_FRAMES: in a stack
 * of a million frames, the walk must yield the CPU, and stop if the process is killed.
 * Return: 0; -EINTR after a fatal signal.
 */
static int walk_behind(u32 skip, u64 *frames, u32 capacity, struct kuw_result *result)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct kuw_state pieces;

	kuw_walk_begin(&pieces, regs, user_64bit_mode(regs) ? KUW_WORD : KUW_I386_WORD);
	while (skip) {
		kw_walk(NULL, &pieces, frames, min_t(u32, skip, KUNWIND_MAX_FRAMES),
			result);
		skip -= min(skip, result->count);
		if (!goes_on(result)) {
			result->count = 0;
			result->proven = 0;
			return 0;
		}
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	kw_walk(NULL, &pieces, frames, capacity, result);
	return 0;
}

/* Leave out the @skip innermost frames of a walk. */
static void leave_out(u32 skip, u64 *frames, struct kuw_result *result)
{
	u32 i, n = 0;

	skip = min(skip, result->count);
	result->count -= skip;
	result->proven -= min(skip, result->proven);
	memmove(frames, frames + skip, result->count * sizeof(*frames));
	for (i = 0; i < result->nr_interrupted; i++)
		if (result->interrupted[i] >= skip)
			result->interrupted[n++] = result->interrupted[i] - skip;
	result->nr_interrupted = n;
}

/* Return: 0; -EINTR after a fatal signal. */
static int walk(u32 skip, u64 *frames, u32 capacity, struct kuw_result *result)
{
	kw_walk(NULL, NULL, frames, min_t(u32, skip + capacity, KUNWIND_MAX_FRAMES),
		result);
	if (skip && result->stop == KUNWIND_STOP_MAX_FRAMES)
		return walk_behind(skip, frames, capacity, result);
	if (skip)
		leave_out(skip, frames, result);
	return 0;
}

/* @innermost: the first frame is the innermost of the whole stack. Return: 0, -EFAULT. */
static int put_frames(struct kunwind_frame __user *to, const u64 *frames,
		      const struct kuw_result *result, bool innermost)
{
	struct kunwind_frame chunk[16];
	u32 i, n = 0, next = 0;

	for (i = 0; i < result->count; i++) {
		struct kunwind_frame *frame = &chunk[n++];

		*frame = (struct kunwind_frame) { .address = frames[i] };
		if (i >= result->proven)
			frame->flags |= KUNWIND_FRAME_GUESSED;
		if (!i && innermost)
			frame->flags |= KUNWIND_FRAME_INTERRUPTED;
		if (next < result->nr_interrupted && result->interrupted[next] == i) {
			frame->flags |= KUNWIND_FRAME_INTERRUPTED;
			next++;
		}
		if (n < ARRAY_SIZE(chunk) && i + 1 < result->count)
			continue;
		if (copy_to_user(to, chunk, n * sizeof(*chunk)))
			return -EFAULT;
		to += n;
		n = 0;
	}
	return 0;
}

static long do_stack(struct kunwind_consumer *c, union argument *arg,
		     void __user *uarg, u32 size)
{
	struct kunwind_stack *s = &arg->stack;
	u32 capacity = min_t(u32, s->capacity, KUNWIND_MAX_FRAMES);
	struct kuw_result result;
	u64 *frames;
	long ret;

	if (s->flags || s->reserved || !s->capacity || s->capacity > MAX_CAPACITY ||
	    s->skip > KUNWIND_MAX_SKIP)
		return -EINVAL;
	if (c->mm != current->mm)
		return -EXDEV;
	/* A fatal signal or a failed allocation may have left a mapping out. */
	ret = kw_space_refresh(c->space, c->mm);
	if (ret)
		return ret;
	frames = kvmalloc_array(min_t(u32, s->skip + capacity, KUNWIND_MAX_FRAMES),
				sizeof(*frames), GFP_KERNEL_ACCOUNT);
	if (!frames)
		return -ENOMEM;
	ret = walk(s->skip, frames, capacity, &result);
	if (!ret) {
		kw_count_stop(result.stop);
		s->count = result.count;
		s->proven = result.proven;
		s->stop = result.stop;
		ret = put_frames(uarg + size, frames, &result, !s->skip);
	}
	kvfree(frames);
	return ret;
}

static const struct request {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	long (*run)(struct kunwind_consumer *c, union argument *arg,
		    void __user *uarg, u32 size);
} requests[] = {
	[_IOC_NR(KUNWIND_IOC_VERSION)] = {
		.cmd = KUNWIND_IOC_VERSION,
		.size = sizeof(struct kunwind_version),
		.min_size = KUNWIND_VERSION_SIZE_VER0,
		.run = do_version,
	},
	[_IOC_NR(KUNWIND_IOC_STACK)] = {
		.cmd = KUNWIND_IOC_STACK,
		.size = sizeof(struct kunwind_stack),
		.min_size = KUNWIND_STACK_SIZE_VER0,
		.run = do_stack,
	},
};

/* Version 1 is frozen: all of it is in tests/ioctl/layout.h. */
static_assert(KUNWIND_ABI_VERSION == 1);
static_assert(KUNWIND_IOC_VERSION == 0xc020be00);
static_assert(KUNWIND_IOC_STACK == 0xc020be01);
static_assert(sizeof(struct kunwind_version) == 32);
static_assert(offsetof(struct kunwind_version, reserved) == 28);
static_assert(sizeof(struct kunwind_stack) == 32);
static_assert(offsetof(struct kunwind_stack, reserved) == 28);
static_assert(sizeof(struct kunwind_frame) == 16);
static_assert(offsetof(struct kunwind_frame, reserved) == 12);

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long param)
{
	void __user *uarg = (void __user *)param;
	const struct request *request;
	union argument arg;
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

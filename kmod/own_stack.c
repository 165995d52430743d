// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The request KUNWIND_IOC_STACK: the caller's own stack. */
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <uapi/linux/kunwind.h>
#include "consumer.h"
#include "coverage.h"
#include "device.h"
#include "stats.h"
#include "walk.h"
#include "walk_place.h"

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
int kw_put_frames(struct kunwind_frame __user *to, const u64 *frames,
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

long kw_own_stack(struct kw_handle *handle, union kw_argument *arg, void __user *to)
{
	struct kunwind_consumer *c = handle->own;
	struct kunwind_stack *s = &arg->stack;
	u32 capacity = min_t(u32, s->capacity, KUNWIND_MAX_FRAMES);
	struct kuw_result result;
	u64 *frames;
	long ret;

	if (s->flags || s->reserved || !s->capacity || s->capacity > KW_MAX_CAPACITY ||
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
		ret = kw_put_frames(to, frames, &result, !s->skip);
	}
	kvfree(frames);
	return ret;
}

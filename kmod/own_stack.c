// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The requests KUNWIND_IOC_STACK and KUNWIND_IOC_STACK_AT: the caller's own stack. */
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
#include "space.h"
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
static int walk_behind(const struct pt_regs *regs, u32 skip, u64 *frames, u32 capacity,
		       struct kuw_result *result)
{
	struct kuw_state pieces;

	kuw_state_start(&pieces, regs,
			user_64bit_mode((struct pt_regs *)regs) ? KUW_WORD : KUW_I386_WORD);
	while (skip) {
		kw_walk_own(regs, &pieces, frames, min_t(u32, skip, KUNWIND_MAX_FRAMES),
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
	kw_walk_own(regs, &pieces, frames, capacity, result);
	return 0;
}

/*
 * Sets *@skip to how many of @frames are to be left out. Return: 0; -EINTR after a fatal signal.
 */
static int walk(const struct pt_regs *regs, u32 *skip, u64 *frames, u32 capacity,
		struct kuw_result *result)
{
	u32 behind = *skip;

	kw_walk_own(regs, NULL, frames, min_t(u32, behind + capacity, KUNWIND_MAX_FRAMES),
		    result);
	if (behind && result->stop == KUNWIND_STOP_MAX_FRAMES) {
		*skip = 0;
		return walk_behind(regs, behind, frames, capacity, result);
	}
	*skip = min(behind, result->count);
	return 0;
}

/*
 * Write the frames from @skip on. @innermost: frame 0 is the innermost of the whole stack.
 * Return: 0, -EFAULT.
 */
int kw_put_frames(struct kunwind_frame __user *to, const u64 *frames,
		  const struct kuw_result *result, u32 skip, bool innermost)
{
	struct kunwind_frame chunk[16];
	u32 i, n = 0, next = 0;

	while (next < result->nr_interrupted && result->interrupted[next] < skip)
		next++;
	for (i = skip; i < result->count; i++) {
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

/*
 * Both requests. @mappings: NULL, or where to put the number of the last mapping that the
 * answer knows of; from 1 on, as 0 would look unfilled.
 */
static long take(const struct kunwind_consumer *c, struct kunwind_stack *s,
		 const struct pt_regs *regs, u64 *mappings, void __user *to)
{
	u32 capacity = min_t(u32, s->capacity, KUNWIND_MAX_FRAMES), skip = s->skip;
	struct kuw_result result;
	u64 *frames;
	long ret;

	if (s->flags || s->reserved || !s->capacity || s->capacity > KW_MAX_CAPACITY ||
	    s->skip > KUNWIND_MAX_SKIP)
		return -EINVAL;
	if (c->mm != current->mm)
		return -EXDEV;
	/* Read before the walk, so that the caller sees a later one next time. */
	if (mappings)
		*mappings = READ_ONCE(c->space->events) + 1;
	/* A fatal signal or a failed allocation may have left a mapping out. */
	ret = kw_space_refresh(c->space, c->mm);
	if (ret)
		return ret;
	frames = kvmalloc_array(min_t(u32, s->skip + capacity, KUNWIND_MAX_FRAMES),
				sizeof(*frames), GFP_KERNEL_ACCOUNT);
	if (!frames)
		return -ENOMEM;
	ret = walk(regs, &skip, frames, capacity, &result);
	if (!ret) {
		kw_count_stop(result.stop);
		s->count = result.count - skip;
		s->proven = result.proven - min(skip, result.proven);
		s->stop = result.stop;
		ret = kw_put_frames(to, frames, &result, skip, !s->skip);
	}
	kvfree(frames);
	return ret;
}

long kw_own_stack(struct kw_handle *handle, union kw_argument *arg, void __user *to)
{
	return take(handle->own, &arg->stack, task_pt_regs(current), NULL, to);
}

long kw_own_stack_at(struct kw_handle *handle, union kw_argument *arg, void __user *to)
{
	struct kunwind_stack_at *s = &arg->stack_at;
	const struct kunwind_registers *r = &s->registers;
	/* The mode is that of the caller. Nothing reads the flags. */
	struct pt_regs regs = *task_pt_regs(current);

	/* They are not those of this system call. */
	regs.orig_ax = -1;
	regs.ip = r->ip;
	regs.sp = r->sp;
	regs.bp = r->bp;
	regs.ax = r->ax;
	regs.bx = r->bx;
	regs.cx = r->cx;
	regs.dx = r->dx;
	regs.si = r->si;
	regs.di = r->di;
	regs.r8 = r->r8;
	regs.r9 = r->r9;
	regs.r10 = r->r10;
	regs.r11 = r->r11;
	regs.r12 = r->r12;
	regs.r13 = r->r13;
	regs.r14 = r->r14;
	regs.r15 = r->r15;
	/* The first frame. The walk takes the lower halves of the others. */
	if (!user_64bit_mode(&regs))
		regs.ip = (u32)regs.ip;
	return take(handle->own, &s->stack, &regs, &s->mappings, to);
}

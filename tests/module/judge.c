// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Walks, and what is wrong with them. A program that spins somewhere says where,
 * and what its callers are, which it has from its own unwinder: whenever it is
 * interrupted there, its stack must be that, or a part of it with a reason.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/ptrace.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>
#include "kunwind-test.h"

static struct expectation {
	const struct mm_struct *mm;
	u64 low;
	u64 high;
	unsigned int count;
	u64 callers[64];
} expected;

struct buffer {
	u64 frames[KUNWIND_MAX_FRAMES];
};

static struct buffer __percpu *buffers[NR_CONTEXTS];

static int counter_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%ld\n", atomic_long_read(kp->arg));
}

const struct kernel_param_ops counter_ops = { .get = counter_get };

/* Walks by context. */
COUNTER(hardirqs);
COUNTER(nmis);
/* NMIs that interrupted the kernel. */
COUNTER(nmis_in_kernel);
/* Walks of the program that has said what is expected, where it spins: */
COUNTER(right);
/* In the middle of a change of address spaces, or of text_poke(): documented. */
COUNTER(unreadable);
COUNTER(cut_short);
/* Why the last one was, a KUNWIND_STOP_. */
COUNTER(cut_short_stop);
COUNTER(wrong);

/* No kernel address, and no more than there is. */
static bool is_possible(const u64 *frames, const struct kunwind_result *r)
{
	u32 i;

	if (r->count > KUNWIND_MAX_FRAMES || r->proven > r->count ||
	    r->stop >= KUNWIND_NR_STOPS)
		return false;
	for (i = 0; i < r->count; i++)
		if (frames[i] >= TASK_SIZE_MAX)
			return false;
	return true;
}

static bool is_expected_place(const u64 *frames, const struct kunwind_result *r)
{
	return r->count && current->mm && current->mm == expected.mm &&
	       frames[0] >= expected.low && frames[0] < expected.high;
}

static void cut_short_by(u32 stop)
{
	atomic_long_inc(&cut_short);
	atomic_long_set(&cut_short_stop, stop);
}

static void compare(const u64 *frames, const struct kunwind_result *r)
{
	u32 callers = r->count - 1;

	if (callers > expected.count ||
	    memcmp(frames + 1, expected.callers, callers * sizeof(*frames)))
		atomic_long_inc(&wrong);
	else if (r->stop == KUNWIND_STOP_CONTEXT)
		atomic_long_inc(&unreadable);
	else if (r->stop != KUNWIND_STOP_COMPLETE)
		cut_short_by(r->stop);
	else if (callers == expected.count)
		atomic_long_inc(&right);
	else
		atomic_long_inc(&wrong);
}

void judge(enum context context, const struct pt_regs *regs)
{
	u64 *frames = this_cpu_ptr(buffers[context])->frames;
	struct kunwind_result r;

	kunwind_walk(NULL, frames, KUNWIND_MAX_FRAMES, &r);
	atomic_long_inc(context == CONTEXT_NMI ? &nmis : &hardirqs);
	if (context == CONTEXT_NMI && !user_mode((struct pt_regs *)regs))
		atomic_long_inc(&nmis_in_kernel);
	if (context == CONTEXT_NMI)
		chains_judge(frames, &r, regs);
	if (!is_possible(frames, &r) ||
	    (r.count && user_mode((struct pt_regs *)regs) && frames[0] != regs->ip))
		atomic_long_inc(&wrong);
	else if (is_expected_place(frames, &r))
		compare(frames, &r);
}

/* No walk is made meanwhile. @words: low, high, callers. */
void judge_expect(const u64 *words, unsigned int count)
{
	expected = (struct expectation) {
		.mm = current->mm,
		.low = words[0],
		.high = words[1],
		.count = count - 2,
	};
	memcpy(expected.callers, words + 2, (count - 2) * sizeof(*words));
}

int judge_init(void)
{
	int i;

	for (i = 0; i < NR_CONTEXTS; i++) {
		buffers[i] = alloc_percpu(struct buffer);
		if (!buffers[i]) {
			judge_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

void judge_exit(void)
{
	int i;

	for (i = 0; i < NR_CONTEXTS; i++)
		free_percpu(buffers[i]);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * NMIs that are aimed at the entry code. A program enters the kernel from several places,
 * each with callers of its own. Before each entry it notes, in a word of its memory, from
 * which place it enters, and behind it that it has left. So whatever instruction an NMI
 * hits, the word says what the stack must be, and what it must not be.
 *
 * Parameters:
 *	chain	NOTE LOW HIGH CALLER...: addresses, in hexadecimal. While the word at
 *		NOTE is 256 + n, the program is between LOW and HIGH of the n-th chain
 *		that was written, its next instruction included; while it is n, it is
 *		in none of them. Without CALLERs, only that is judged.
 *	window	START END: addresses of the kernel, to be counted apart
 *	windows	of each window: NMIs that came there, at how many addresses, and of
 *		these, how many stacks were right, unknown, and wrong
 *	last_wrong	what the last one was, to find the reason
 *	stack	where the reader's kernel stack is
 *	unmapped_stack	where the stack for #VC of the reader's CPU begins, which only
 *		encrypted guests have
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <asm/cpu_entry_area.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>
#include "kunwind-test.h"

#define INSIDE		256
#define MAX_PLACES	16384

static const struct mm_struct *mm;
static u64 note_at;

static struct chain {
	u64 low;
	u64 high;
	unsigned int count;
	u64 callers[32];
} chains[8];

static unsigned int nr_chains;

static struct window {
	u64 start;
	u64 end;
	unsigned long hits;
	unsigned long verdicts[NR_VERDICTS];
	DECLARE_BITMAP(places, MAX_PLACES);
} windows[8];

static unsigned int nr_windows;

/* All stacks while the word says something. */
COUNTER(aimed_right);
COUNTER(aimed_unknown);
COUNTER(aimed_short);
COUNTER(aimed_wrong);

static atomic_long_t *const totals[NR_VERDICTS] = {
	[VERDICT_RIGHT] = &aimed_right,
	[VERDICT_UNKNOWN] = &aimed_unknown,
	[VERDICT_SHORT] = &aimed_short,
	[VERDICT_WRONG] = &aimed_wrong,
};

/* The last one that was wrong. */
static struct {
	u32 note;
	u32 stop;
	u32 count;
	u64 kernel_ip;
	u64 frames[4];
} last_wrong;

static bool is_in(const struct chain *c, u64 ip)
{
	return ip >= c->low && ip <= c->high;
}

static enum verdict judge_callers(const struct chain *c, const u64 *frames,
				  const struct kunwind_result *r)
{
	u32 callers = r->count - 1;

	if (!c->count)
		return VERDICT_RIGHT;
	if (callers > c->count || memcmp(frames + 1, c->callers, callers * sizeof(*frames)))
		return VERDICT_WRONG;
	if (r->stop == KUNWIND_STOP_COMPLETE)
		return callers == c->count ? VERDICT_RIGHT : VERDICT_WRONG;
	return r->stop == KUNWIND_STOP_CONTEXT ? VERDICT_UNKNOWN : VERDICT_SHORT;
}

static enum verdict judge_chain(u32 note, const u64 *frames,
				const struct kunwind_result *r)
{
	const struct chain *c = &chains[note % INSIDE - 1];
	unsigned int i;

	if (!r->count)
		return r->stop == KUNWIND_STOP_CONTEXT ? VERDICT_UNKNOWN : VERDICT_SHORT;
	if (note >= INSIDE)
		return is_in(c, frames[0]) ? judge_callers(c, frames, r) : VERDICT_WRONG;
	for (i = 0; i < nr_chains; i++)
		if (is_in(&chains[i], frames[0]))
			return VERDICT_WRONG;
	return VERDICT_RIGHT;
}

static void count_window(struct window *w, u64 ip, enum verdict verdict)
{
	if (ip < w->start || ip >= w->end)
		return;
	w->hits++;
	w->verdicts[verdict]++;
	if (ip - w->start < MAX_PLACES)
		__set_bit(ip - w->start, w->places);
}

/* In an NMI of the CPU that is aimed at, which alone writes windows. */
void chains_judge(const u64 *frames, const struct kunwind_result *r,
		  const struct pt_regs *regs)
{
	enum verdict verdict;
	unsigned int i;
	u32 note;

	if (!mm || current->mm != mm ||
	    copy_from_user_nofault(&note, (void __user *)note_at, sizeof(note)) ||
	    !note || note % INSIDE > nr_chains)
		return;
	verdict = judge_chain(note, frames, r);
	atomic_long_inc(totals[verdict]);
	if (verdict == VERDICT_WRONG) {
		last_wrong.note = note;
		last_wrong.stop = r->stop;
		last_wrong.count = r->count;
		last_wrong.kernel_ip = regs->ip;
		memcpy(last_wrong.frames, frames, sizeof(last_wrong.frames));
	}
	if (user_mode((struct pt_regs *)regs))
		return;
	for (i = 0; i < nr_windows; i++)
		count_window(&windows[i], regs->ip, verdict);
}

/* Return: how many words there are, or a negative errno. */
static int parse(const char *value, u64 *words, unsigned int room)
{
	char *copy, *rest, *word;
	unsigned int count = 0;
	int ret = 0;

	copy = kstrdup(value, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = strim(copy);
	while (!ret && (word = strsep(&rest, " ")))
		ret = count < room ? kstrtou64(word, 16, &words[count++]) : -E2BIG;
	kfree(copy);
	return ret ?: count;
}

/* No NMI is aimed at the program meanwhile. */
static int chain_set(const char *value, const struct kernel_param *kp)
{
	struct chain *c = &chains[nr_chains];
	u64 words[ARRAY_SIZE(c->callers) + 3];
	int count;

	if (nr_chains == ARRAY_SIZE(chains))
		return -ENOSPC;
	count = parse(value, words, ARRAY_SIZE(words));
	if (count < 3)
		return count < 0 ? count : -EINVAL;
	mm = current->mm;
	note_at = words[0];
	c->low = words[1];
	c->high = words[2];
	c->count = count - 3;
	memcpy(c->callers, words + 3, c->count * sizeof(*words));
	nr_chains++;
	return 0;
}

static const struct kernel_param_ops chain_ops = { .set = chain_set };

module_param_cb(chain, &chain_ops, NULL, 0200);

static int window_set(const char *value, const struct kernel_param *kp)
{
	u64 words[2];
	int count;

	if (nr_windows == ARRAY_SIZE(windows))
		return -ENOSPC;
	count = parse(value, words, ARRAY_SIZE(words));
	if (count != 2)
		return count < 0 ? count : -EINVAL;
	windows[nr_windows].start = words[0];
	windows[nr_windows].end = words[1];
	nr_windows++;
	return 0;
}

static const struct kernel_param_ops window_ops = { .set = window_set };

module_param_cb(window, &window_ops, NULL, 0200);

static int windows_get(char *text, const struct kernel_param *kp)
{
	const struct window *w;
	int at = 0;

	for (w = windows; w < windows + nr_windows; w++)
		at += sysfs_emit_at(text, at, "%lu %u %lu %lu %lu\n", w->hits,
				    bitmap_weight(w->places, MAX_PLACES),
				    w->verdicts[VERDICT_RIGHT],
				    w->verdicts[VERDICT_UNKNOWN] +
				    w->verdicts[VERDICT_SHORT],
				    w->verdicts[VERDICT_WRONG]);
	return at;
}

static const struct kernel_param_ops windows_ops = { .get = windows_get };

module_param_cb(windows, &windows_ops, NULL, 0444);

static int wrong_get(char *text, const struct kernel_param *kp)
{
	const u64 *f = last_wrong.frames;

	return sysfs_emit(text, "note %u, at %pS, %u frames, stop %u: %llx %llx %llx %llx\n",
			  last_wrong.note, (void *)last_wrong.kernel_ip, last_wrong.count,
			  last_wrong.stop, f[0], f[1], f[2], f[3]);
}

static const struct kernel_param_ops wrong_ops = { .get = wrong_get };

module_param_cb(last_wrong, &wrong_ops, NULL, 0400);

static int stack_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%lx\n", (unsigned long)task_stack_page(current));
}

static const struct kernel_param_ops stack_ops = { .get = stack_get };

module_param_cb(stack, &stack_ops, NULL, 0400);

static int unmapped_stack_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%llx\n", (u64)this_cpu_read(cpu_tss_rw.x86_tss.ist[IST_INDEX_VC]));
}

static const struct kernel_param_ops unmapped_stack_ops = { .get = unmapped_stack_get };

module_param_cb(unmapped_stack, &unmapped_stack_ops, NULL, 0400);

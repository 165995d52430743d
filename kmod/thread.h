/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The stacks of other threads. */
#ifndef KW_THREAD_H
#define KW_THREAD_H

#include <linux/completion.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "walk.h"

struct mm_struct;
struct task_struct;

/* A request for the stack of a thread: on the stack of the task that waits for it. */
struct kw_thread_stack {
	/* The thread, with a reference, and its mm, by mmgrab(). */
	struct task_struct *task;
	struct mm_struct *mm;
	/* Where to write addresses, and for how many there is room: KUNWIND_MAX_FRAMES at most. */
	u64 *frames;
	u32 capacity;
	/* What kw_walk_thread() says: how the walk ended; the number of the space, or 0. */
	struct kuw_result result;
	u64 space;
	/* Whether the thread was on a CPU. */
	bool running;
	/* For thread.c: whether the walk counts; how often the thread had left a CPU before it. */
	bool done;
	unsigned long switches;
	struct work_struct work;
	struct completion ended;	/* the work has done its walk */
};

int kw_walk_thread(struct kw_thread_stack *s);
int kw_threads_init(void);
void kw_threads_exit(void);

#endif /* KW_THREAD_H */

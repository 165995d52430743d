/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The stacks of other threads. */
#ifndef KW_THREAD_H
#define KW_THREAD_H

#include <linux/types.h>
#include "walk.h"

struct mm_struct;
struct task_struct;

/**
 * struct kw_thread_stack - the stack of another thread
 * @frames: in: where to write addresses, innermost first
 * @capacity: in: how many there is room for; at most KUNWIND_MAX_FRAMES are written
 * @result: out: how the walk ended
 * @space: out: the number of the address space, or 0
 * @running: out: whether the thread was on a CPU
 */
struct kw_thread_stack {
	u64 *frames;
	u32 capacity;
	struct kuw_result result;
	u64 space;
	bool running;
};

int kw_walk_thread(struct task_struct *task, struct mm_struct *mm, struct kw_thread_stack *to);
int kw_threads_init(void);
void kw_threads_exit(void);

#endif /* KW_THREAD_H */

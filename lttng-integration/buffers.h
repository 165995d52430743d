/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where a stack waits between its computation and its recording. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <linux/types.h>
#include <uapi/linux/kunwind.h>

/*
 * One stack. Made by the first buffers_get(), one per CPU and nesting level of
 * LTTng's ring buffer; written by get_size() and read by record() of one event,
 * with preemption off on that CPU; freed by the last buffers_put().
 */
struct stack {
	u32 count;
	u16 proven;
	u8 stop;
	u64 space;
	u64 interrupted;
	/* One more for the mark of an incomplete stack. */
	u64 frames[KUNWIND_MAX_FRAMES + 1];
};

int buffers_get(void);
void buffers_put(void);
struct stack *buffers_stack(int cpu);

#endif /* BUFFERS_H */

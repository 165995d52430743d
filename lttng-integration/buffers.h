/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Buffers that hold a stack from its computation to its recording. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <linux/types.h>
#include <uapi/linux/kunwind.h>

/* The fields behind the frames. */
struct stack_end {
	u8 stop;
	u64 space;
	u16 proven;
	u64 interrupted;
} __packed;

/*
 * One stack, as LTTng records it: @bytes from @count on, which are @count, so many frames
 * and a struct stack_end. The first buffers_get() makes one per CPU and nesting level of
 * LTTng's ring buffer. get_size() of an event writes it, and record() of the same event reads
 * it, with preemption off on that CPU. The last buffers_put() frees it.
 */
struct stack {
	u32 bytes;
	u32 count;
	/* One more for the mark of an incomplete stack. */
	u64 frames[KUNWIND_MAX_FRAMES + 1];
	/* Room for the end of the longest stack. */
	struct stack_end end;
};

int buffers_get(void);
void buffers_put(void);
struct stack *buffers_stack(int cpu);

#endif /* BUFFERS_H */

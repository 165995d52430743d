/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Threads that are off the CPU: from the sched_switch that leaves them to the one that
 * goes to them, and who woke them in between.
 */
#ifndef KR_WAITS_H
#define KR_WAITS_H

#include "event.h"

#define KR_NO_END	INT64_MIN

/* Bits of prev_state, EXIT_DEAD and EXIT_ZOMBIE: the thread does not run again. */
#define KR_STATE_EXIT	0x30

/* And TASK_REPORT_MAX, which the kernel gives for a thread that it preempts (since 4.14). */
#define KR_STATE_PREEMPTED	0x100

/* Whether a thread that leaves a CPU in this state could go on. */
static inline bool kr_state_is_runnable(int64_t state)
{
	return !state || (state > 0 && state & KR_STATE_PREEMPTED);
}

/**
 * struct kr_wait - a thread that is off the CPU
 * @thread: which
 * @task: what the event says of it
 * @node: its stack in the profile
 * @begin: since when, in nanoseconds
 * @mark: of struct kr_losses, at that time
 * @runnable: it did not want to leave
 * @waker: the process that woke it; "" if nobody is known to have
 */
struct kr_wait {
	struct kr_thread thread;
	struct kr_task task;
	uint32_t node;
	int64_t begin;
	uint64_t mark;
	bool runnable;
	char *waker;
};

struct kr_waits;

/* @over: called for each wait once it is over; @end is KR_NO_END if that is not known. */
struct kr_waits *kr_waits_new(void (*over)(void *data, const struct kr_wait *wait,
					   int64_t end), void *data);
void kr_waits_free(struct kr_waits *waits);

/*
 * A sched_switch whose own thread waits from now on. @mark: of struct kr_losses.
 * Of a thread that exits, this is the end of all waits: others get its number.
 */
void kr_waits_begin(struct kr_waits *waits, const struct kr_event *event, uint32_t node,
		    uint64_t mark);

/* Any sched_switch: the thread that it goes to waits no longer. */
void kr_waits_end(struct kr_waits *waits, const struct kr_event *event);

/* A sched_waking. */
void kr_waits_wake(struct kr_waits *waits, const struct kr_event *event);

/* There are no more events. */
void kr_waits_finish(struct kr_waits *waits);

#endif /* KR_WAITS_H */

// SPDX-License-Identifier: MIT
/* Backtraces: allocate, take, read. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "libkunwind.h"

/* The frame of kunwind_backtrace() itself. */
#define OWN_FRAMES	1

void kunwind_make_empty(struct kunwind_bt *bt)
{
	bt->state = 0;
	bt->stack.count = 0;
	bt->stack.proven = 0;
	bt->stack.stop = KUNWIND_STOP_NONE;
}

EXPORT struct kunwind_bt *kunwind_backtrace_new(uint32_t capacity)
{
	struct kunwind_bt *bt;

	if (capacity == 0 || capacity > KUNWIND_MAX_CAPACITY) {
		errno = EINVAL;
		return NULL;
	}
	bt = calloc(1, sizeof(*bt) + capacity * sizeof(bt->frames[0]));
	if (!bt)
		return NULL;
	bt->stack.capacity = capacity;
	kunwind_make_empty(bt);
	return bt;
}

EXPORT void kunwind_backtrace_free(struct kunwind_bt *bt)
{
	free(bt);
}

/* A request, and the frames whose place it takes while the kernel handles it. */
union piece {
	struct kunwind_stack stack;
	struct kunwind_frame frames[sizeof(struct kunwind_stack) /
				    sizeof(struct kunwind_frame)];
};

#define PLACE	(sizeof(union piece) / sizeof(struct kunwind_frame))

_Static_assert(sizeof(union piece) == PLACE * sizeof(struct kunwind_frame),
	       "a request stands in the place of whole frames");

static inline __attribute__((always_inline))
long request(struct kunwind_handle *handle, struct kunwind_stack *stack,
	     uint32_t capacity, uint32_t skip)
{
	*stack = (struct kunwind_stack) {
		.size = sizeof(*stack),
		.capacity = capacity,
		.skip = skip,
	};
	return kunwind_ioctl(handle->fd, KUNWIND_IOC_STACK, stack);
}

/*
 * The kernel returns at most KUNWIND_MAX_FRAMES frames at a time, after its structure. To get
 * more, put the structure in the place of the last frames so far, and then restore these.
 */
static inline __attribute__((always_inline))
long go_on(struct kunwind_handle *handle, struct kunwind_bt *bt)
{
	uint32_t count = bt->stack.count;
	union piece *piece = (union piece *)&bt->frames[count - PLACE];
	union piece saved = *piece, answer;
	long ret;

	ret = request(handle, &piece->stack, bt->stack.capacity - count,
		      count + OWN_FRAMES);
	answer = *piece;
	*piece = saved;
	if (ret < 0)
		return ret;
	/* All frames after a guess are guessed, too. */
	if (bt->stack.proven == count)
		bt->stack.proven += answer.stack.proven;
	bt->stack.count += answer.stack.count;
	bt->stack.stop = answer.stack.stop;
	return 0;
}

/* Not inlined: its own frame is the one that OWN_FRAMES leaves out. */
EXPORT __attribute__((noinline))
int kunwind_backtrace(struct kunwind_handle *handle,
		      struct kunwind_bt *bt)
{
	uint32_t capacity;
	long ret;

	if (!bt)
		return -EINVAL;
	if (!handle) {
		kunwind_make_empty(bt);
		return -EINVAL;
	}

	capacity = bt->stack.capacity;
	bt->state = 0;
	ret = request(handle, &bt->stack, capacity, OWN_FRAMES);
	while (ret >= 0 && bt->stack.stop == KUNWIND_STOP_MAX_FRAMES &&
	       bt->stack.count < capacity)
		ret = go_on(handle, bt);
	if (ret < 0) {
		kunwind_make_empty(bt);
		return ret;
	}
	return bt->stack.count;
}

EXPORT const struct kunwind_frame *
kunwind_backtrace_frames(const struct kunwind_bt *bt)
{
	return bt->frames;
}

EXPORT uint32_t kunwind_backtrace_count(const struct kunwind_bt *bt)
{
	return bt->stack.count;
}

EXPORT uint32_t kunwind_backtrace_capacity(const struct kunwind_bt *bt)
{
	return bt->stack.capacity;
}

EXPORT uint32_t kunwind_backtrace_proven(const struct kunwind_bt *bt)
{
	return bt->stack.proven;
}

EXPORT uint32_t kunwind_backtrace_stop(const struct kunwind_bt *bt)
{
	return bt->stack.stop;
}

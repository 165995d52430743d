// SPDX-License-Identifier: MIT
/* Backtraces: room for one, taking one, reading one. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "libkunwind.h"

/* The frame of kunwind_backtrace() itself. */
#define OWN_FRAMES	1

static void make_empty(struct kunwind_bt *bt)
{
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
	make_empty(bt);
	return bt;
}

EXPORT void kunwind_backtrace_free(struct kunwind_bt *bt)
{
	free(bt);
}

/* Inlined into its caller, it would not be the frame that is left out. */
EXPORT __attribute__((noinline))
int kunwind_backtrace(struct kunwind_handle *handle,
		      struct kunwind_bt *bt)
{
	long ret;

	if (!handle || !bt)
		return -EINVAL;

	make_empty(bt);
	bt->stack.size = sizeof(bt->stack);
	bt->stack.flags = 0;
	bt->stack.skip = OWN_FRAMES;
	bt->stack.reserved = 0;
	ret = kunwind_ioctl(handle->fd, KUNWIND_IOC_STACK, &bt->stack);
	if (ret < 0) {
		make_empty(bt);
		return ret;
	}
	return bt->stack.count;
}

EXPORT const uint64_t *
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

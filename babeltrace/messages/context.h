/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The members of a common context that a stack is made of. */
#ifndef KR_CONTEXT_H
#define KR_CONTEXT_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/**
 * struct kr_context - the members of a common context that are of interest
 * @user: the index of callstack_user_unwind, or -1
 * @kernel: of callstack_kernel, or -1
 * @stop: of _callstack_user_unwind_stop, or -1
 * @space: of _callstack_user_unwind_space, or -1
 * @proven: of _callstack_user_unwind_proven, or -1
 * @interrupted: of _callstack_user_unwind_interrupted, or -1
 * @pid: of pid, or -1
 * @stack: of kunwind_stack, in the copy; that of kunwind_stop is one more. -1 if
 *	there is no callstack at all
 */
struct kr_context {
	int user;
	int kernel;
	int stop;
	int space;
	int proven;
	int interrupted;
	int pid;
	int stack;
};

/* @class: the common context's class, or NULL. */
void kr_context_find(struct kr_context *context, const bt_field_class *class);

/* Append the classes of what is added to the copy of a common context. */
bool kr_context_append(const struct kr_context *context,
		       bt_trace_class *trace_class, bt_field_class *copy);

#endif /* KR_CONTEXT_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A function of the kernel, by its name, and ftrace on it. */
#ifndef KW_REDIRECT_H
#define KW_REDIRECT_H

#include <linux/ftrace.h>

/*
 * Call @func at each call of @function. Context: process context, sleeps.
 * Return: 0; -ENOENT if the kernel has no such function; as register_ftrace_function().
 */
int kw_ftrace_begin(struct ftrace_ops *ops, const char *function, ftrace_func_t func,
		    unsigned long flags);

/* Nothing happens if that has failed, or was not called. Context: process context, sleeps. */
void kw_ftrace_end(struct ftrace_ops *ops);

#endif /* KW_REDIRECT_H */

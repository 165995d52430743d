/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One of the kernel's functions is replaced by one of a module's, by ftrace. */
#ifndef KUNWIND_REDIRECT_H
#define KUNWIND_REDIRECT_H

#include <linux/ftrace.h>
#include <linux/types.h>

struct module;

/**
 * struct kunwind_redirect - a function instead of another one
 * @from: the name of the function that is replaced
 * @to: one of the same type. Calls of @from that come from @owner reach @from, but not a
 *	call that the compiler makes a jump, at the end of a function
 * @owner: the module that @to is in
 * @sleeps: @to may sleep. Then each call has a reference to @owner, which @to gives back
 *	by module_put() in the end, and does not sleep after that. While the module
 *	goes, @from is called
 * @applies: whether this call is replaced; NULL: each one is. Called with preemption off
 * @ops: ftrace's
 *
 * Static in the module that owns it. Registered by kunwind_redirect_begin() until
 * kunwind_redirect_end(); the fields do not change meanwhile.
 */
struct kunwind_redirect {
	const char *from;
	void *to;
	struct module *owner;
	bool sleeps;
	bool (*applies)(struct ftrace_regs *fregs);
	struct ftrace_ops ops;
};

/**
 * kunwind_redirect_begin() - call @r->to instead of @r->from from now on
 * @r: all but @ops is filled in
 *
 * What fails is said in the kernel log.
 *
 * Context: process context, sleeps.
 * Return: 0; -ENOENT if the kernel has no such function; -EBUSY if a livepatch or another
 *	module replaces it already; -EINVAL if ftrace cannot trace it; -ENOMEM.
 */
int kunwind_redirect_begin(struct kunwind_redirect *r);

/**
 * kunwind_redirect_end() - end what kunwind_redirect_begin() began
 * @r: one that may not have begun; then nothing happens
 *
 * No call is replaced after that. Those that were replaced before may still be under way:
 * synchronize_rcu_tasks() waits for those that do not sleep.
 *
 * Context: process context, sleeps.
 */
void kunwind_redirect_end(struct kunwind_redirect *r);

/**
 * kunwind_function() - where a function of the kernel, or of a module, is
 * @name: of one that kprobes can probe
 *
 * Context: process context, sleeps.
 * Return: the address of its first instruction; 0 if there is none.
 */
unsigned long kunwind_function(const char *name);

#endif /* KUNWIND_REDIRECT_H */

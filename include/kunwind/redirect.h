/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Replace a function of the kernel by one of a module, by ftrace. */
#ifndef KUNWIND_REDIRECT_H
#define KUNWIND_REDIRECT_H

#include <linux/ftrace.h>
#include <linux/types.h>

struct module;

/**
 * struct kunwind_redirect - one replaced function
 * @from: the name of the function to replace
 * @to: its replacement, of the same type. Calls of @from that come from @owner reach
 *	@from. This does not hold for those of its init, nor for a tail call that the
 *	compiler makes a jump: its return address is not in @owner
 * @owner: the module that @to is in
 * @sleeps: @to may sleep. Then each call takes a reference to @owner. @to must give it
 *	back by module_put() at its end, and must not sleep after that. While @owner is
 *	being unloaded, calls reach @from
 * @applies: whether to replace this call; NULL: replace all. Called in the caller's context
 * @active: whether calls are replaced; for kunwind.ko, as all that follows
 * @text: where @owner's code begins
 * @text_size: its bytes
 * @ops: for ftrace
 *
 * Static in the module that owns it. Registered from kunwind_redirect_begin() to
 * kunwind_redirect_end(); @owner changes no field meanwhile.
 */
struct kunwind_redirect {
	const char *from;
	void *to;
	struct module *owner;
	bool sleeps;
	bool (*applies)(struct ftrace_regs *fregs);
	bool active;
	unsigned long text;
	unsigned long text_size;
	struct ftrace_ops ops;
};

/**
 * kunwind_redirect_begin() - call @r->to instead of @r->from from now on
 * @r: one or more redirects, with all fields before @active filled in
 * @count: how many
 *
 * After a failure no call was replaced, so the caller need not wait for any. The failure is
 * reported in the kernel log.
 *
 * Context: process context, sleeps.
 * Return: 0; -ENOENT if the kernel has no such function; -EBUSY if a livepatch or another
 *	module replaces it already, or the sysctl kernel.ftrace_enabled is 0; -EINVAL if
 *	ftrace cannot trace it; -ENOMEM.
 */
int kunwind_redirect_begin(struct kunwind_redirect *r, unsigned int count);

/**
 * kunwind_redirect_try() - whether kunwind_redirect_begin() would succeed now
 * @r: as for kunwind_redirect_begin()
 * @count: how many
 *
 * No call is replaced. A module that replaces functions later tries this when it is loaded.
 *
 * Context: process context, sleeps. Return: as kunwind_redirect_begin().
 */
int kunwind_redirect_try(struct kunwind_redirect *r, unsigned int count);

/**
 * kunwind_redirect_end() - end what kunwind_redirect_begin() started
 * @r: nothing happens if kunwind_redirect_begin() was not called for them, or failed
 * @count: how many
 *
 * No call is replaced after that. Earlier calls may still be running in @r->to:
 * synchronize_rcu_tasks() waits for those that do not sleep.
 *
 * Context: process context, sleeps.
 */
void kunwind_redirect_end(struct kunwind_redirect *r, unsigned int count);

/**
 * kunwind_argument() - an argument of the call that may be replaced
 * @fregs: what @applies of struct kunwind_redirect was given
 * @n: which argument, from 0 on; no floating-point number or structure may be before it
 *
 * Context: any.
 * Return: its value.
 */
unsigned long kunwind_argument(struct ftrace_regs *fregs, unsigned int n);

/**
 * kunwind_function() - find a function of the kernel or of a module
 * @name: the function's name; kprobes must be able to probe it
 *
 * Context: process context, sleeps.
 * Return: the address of its first instruction; 0 if there is none.
 */
unsigned long kunwind_function(const char *name);

#endif /* KUNWIND_REDIRECT_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-lttng.ko: `lttng add-context --kernel --type=callstack-user` gives
 * kunwind's stack. LTTng stays as the distribution built it: ftrace redirects
 * lttng_add_callstack_to_ctx() to context_add(), for this one type, when it is
 * not called from here.
 *
 * LTTng keeps pointers into this module as long as a context exists, and each of
 * them holds a reference to it. context_add() takes the reference before it
 * sleeps, and nothing sleeps after it is given back, so that the
 * synchronize_rcu_tasks() at the exit waits for who is about to take one and for
 * who has just given one back.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <lttng/events.h>
#include <lttng/events-internal.h>
#include "context.h"

static void redirect(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if ((int)ftrace_regs_get_argument(fregs, 1) ==
		    LTTNG_KERNEL_ABI_CONTEXT_CALLSTACK_USER &&
	    !within_module(parent_ip, THIS_MODULE))
		ftrace_regs_set_instruction_pointer(fregs,
						    (unsigned long)context_add);
}

static struct ftrace_ops ops = {
	.func = redirect,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION,
};

static int __init kunwind_lttng_init(void)
{
	int ret;

	ret = ftrace_set_filter_ip(&ops, (unsigned long)lttng_add_callstack_to_ctx,
				   0, 0);
	if (ret)
		return ret;
	ret = register_ftrace_function(&ops);
	if (ret)
		ftrace_free_filter(&ops);
	return ret;
}

static void __exit kunwind_lttng_exit(void)
{
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
	synchronize_rcu_tasks();
}

module_init(kunwind_lttng_init);
module_exit(kunwind_lttng_exit);
MODULE_DESCRIPTION("LTTng context: user call stacks from kunwind");
MODULE_LICENSE("Dual MIT/GPL");

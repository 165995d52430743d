// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-lttng.ko: `lttng add-context --kernel --type=callstack-user` gives
 * kunwind's stack, and `lttng enable-event --kernel 'kunwind_*'` what turns its
 * addresses into names. LTTng stays as the distribution built it: ftrace redirects
 * lttng_add_callstack_to_ctx(), for this one type, to context_add(), and
 * lttng_statedump_start() to statedump_start(), when they are not called from here.
 *
 * LTTng keeps pointers into this module as long as a context or a probe's event
 * exists, and each of them holds a reference to it. For what is redirected, the
 * reference is taken before the call, and nothing sleeps after it is given back, so
 * that the synchronize_rcu_tasks() at the exit waits for who is about to enter and
 * for who is about to leave.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <lttng/events.h>
#include <lttng/events-internal.h>
#include "context.h"
#include "probes.h"
#include "statedump.h"

static bool is_user_callstack(struct ftrace_regs *fregs)
{
	return (int)ftrace_regs_get_argument(fregs, 1) ==
	       LTTNG_KERNEL_ABI_CONTEXT_CALLSTACK_USER;
}

static bool always(struct ftrace_regs *fregs)
{
	return true;
}

/* Made at init, immutable while registered. */
struct redirection {
	unsigned long from;
	unsigned long to;
	bool (*applies)(struct ftrace_regs *fregs);
	struct ftrace_ops ops;
};

static void redirect(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct redirection *r = container_of(ops, struct redirection, ops);

	if (!within_module(parent_ip, THIS_MODULE) && r->applies(fregs) &&
	    try_module_get(THIS_MODULE))
		ftrace_regs_set_instruction_pointer(fregs, r->to);
}

#define REDIRECTION(function, replacement, condition) {			\
	.from = (unsigned long)(function),				\
	.to = (unsigned long)(replacement),				\
	.applies = (condition),						\
	.ops = {							\
		.func = redirect,					\
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION | \
			 FTRACE_OPS_FL_PERMANENT,			\
	},								\
}

static struct redirection redirections[] = {
	REDIRECTION(lttng_add_callstack_to_ctx, context_add, is_user_callstack),
	REDIRECTION(lttng_statedump_start, statedump_start, always),
};

static int redirection_register(struct redirection *r)
{
	int ret;

	ret = ftrace_set_filter_ip(&r->ops, r->from, 0, 0);
	if (ret)
		return ret;
	ret = register_ftrace_function(&r->ops);
	if (ret)
		ftrace_free_filter(&r->ops);
	return ret;
}

static void redirections_unregister(unsigned int count)
{
	while (count--) {
		unregister_ftrace_function(&redirections[count].ops);
		ftrace_free_filter(&redirections[count].ops);
	}
	synchronize_rcu_tasks();
}

static int __init kunwind_lttng_init(void)
{
	unsigned int i;
	int ret;

	ret = map_probes_register();
	if (ret)
		return ret;
	ret = statedump_probes_register();
	if (ret)
		goto unregister_map;
	for (i = 0; i < ARRAY_SIZE(redirections); i++) {
		ret = redirection_register(&redirections[i]);
		if (ret)
			goto unregister_redirections;
	}
	return 0;

unregister_redirections:
	redirections_unregister(i);
	statedump_probes_unregister();
unregister_map:
	map_probes_unregister();
	return ret;
}

static void __exit kunwind_lttng_exit(void)
{
	redirections_unregister(ARRAY_SIZE(redirections));
	statedump_probes_unregister();
	map_probes_unregister();
}

module_init(kunwind_lttng_init);
module_exit(kunwind_lttng_exit);
MODULE_DESCRIPTION("LTTng context: user call stacks from kunwind");
MODULE_LICENSE("Dual MIT/GPL");

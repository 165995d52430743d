// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-lttng.ko: `lttng add-context --kernel --type=callstack-user` gives kunwind's
 * stacks. `lttng enable-event --kernel 'kunwind_*'` gives the events that turn their addresses
 * into names; cpu_sample gives a profile. LTTng stays as the distribution built it. ftrace redirects
 * lttng_add_callstack_to_ctx(), for this one type, to context_add(), and
 * lttng_statedump_start() to statedump_start(). Calls from this module are not redirected.
 *
 * LTTng keeps pointers into this module as long as a context or an event of a probe exists.
 * Each of these holds a reference to the module. A redirected call has its reference before it
 * enters the module, and does not sleep after it has given the reference back. So
 * synchronize_rcu_tasks() at the exit waits for tasks that are about to enter or to leave.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <lttng/events.h>
#include <lttng/events-internal.h>
#include <kunwind/redirect.h>
#include <kunwind/version.h>
#include "context.h"
#include "probes.h"
#include "statedump.h"

static bool is_user_callstack(struct ftrace_regs *fregs)
{
	return (int)kunwind_argument(fregs, 1) ==
	       LTTNG_KERNEL_ABI_CONTEXT_CALLSTACK_USER;
}

static struct kunwind_redirect redirects[] = {
	{
		.from = "lttng_add_callstack_to_ctx",
		.to = context_add,
		.owner = THIS_MODULE,
		.sleeps = true,
		.applies = is_user_callstack,
	},
	{
		.from = "lttng_statedump_start",
		.to = statedump_start,
		.owner = THIS_MODULE,
		.sleeps = true,
	},
};

static int __init kunwind_lttng_init(void)
{
	int ret;

	ret = map_probes_register();
	if (ret)
		return ret;
	ret = statedump_probes_register();
	if (ret)
		goto unregister_map;
	ret = sample_probes_register();
	if (ret)
		goto unregister_statedump;
	ret = kunwind_redirect_begin(redirects, ARRAY_SIZE(redirects));
	if (ret)
		goto unregister_sample;
	return 0;

unregister_sample:
	sample_probes_unregister();
unregister_statedump:
	statedump_probes_unregister();
unregister_map:
	map_probes_unregister();
	return ret;
}

static void __exit kunwind_lttng_exit(void)
{
	kunwind_redirect_end(redirects, ARRAY_SIZE(redirects));
	synchronize_rcu_tasks();
	sample_probes_unregister();
	sample_counters_end();
	statedump_probes_unregister();
	map_probes_unregister();
}

module_init(kunwind_lttng_init);
module_exit(kunwind_lttng_exit);
MODULE_DESCRIPTION("Complete user call stacks for LTTng: the context callstack-user, with kunwind");
MODULE_VERSION(KUNWIND_VERSION);
MODULE_LICENSE("Dual MIT/GPL");

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
 *
 * But the kernel frees a module whose init fails, whatever references there are.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
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

static struct {
	const char *events;
	int (*begin)(void);
	void (*end)(void);
	bool is_registered;
} probes[] = {
	{ "kunwind_*", map_probes_register, map_probes_unregister },
	{ "kunwind_statedump_*", statedump_probes_register, statedump_probes_unregister },
	{ "cpu_*", sample_probes_register, sample_probes_unregister },
};

/* A session that is active takes the events at once, and keeps them. */
static void register_probes(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		int ret = probes[i].begin();

		probes[i].is_registered = !ret;
		if (ret)
			pr_err("there are no events %s: LTTng refuses them (error %d)\n",
			       probes[i].events, ret);
	}
}

static void unregister_probes(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].is_registered)
			probes[i].end();
}

static int __init kunwind_lttng_init(void)
{
	int ret;

	ret = kunwind_redirect_begin(redirects, ARRAY_SIZE(redirects));
	if (ret)
		return ret;
	sample_counters_begin();
	/* From here on, LTTng points into the module: no failure may follow. */
	register_probes();
	return 0;
}

static void __exit kunwind_lttng_exit(void)
{
	kunwind_redirect_end(redirects, ARRAY_SIZE(redirects));
	synchronize_rcu_tasks();
	unregister_probes();
	sample_counters_end();
}

module_init(kunwind_lttng_init);
module_exit(kunwind_lttng_exit);
MODULE_DESCRIPTION("Complete user call stacks for LTTng: the context callstack-user, with kunwind");
MODULE_VERSION(KUNWIND_VERSION);
MODULE_LICENSE("Dual MIT/GPL");

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-tracing.ko: the user stacks of perf, BPF and ftrace are whole. These tools stay
 * as they are: ftrace replaces the functions of the kernel that walk user stacks for them.
 */
#include <linux/module.h>
#include "callchain.h"
#include "demand.h"

static int __init kunwind_tracing_init(void)
{
	int ret;

	ret = callchain_init();
	return ret ?: demand_init();
}

static void __exit kunwind_tracing_exit(void)
{
	demand_exit();
}

module_init(kunwind_tracing_init);
module_exit(kunwind_tracing_exit);
MODULE_DESCRIPTION("User call stacks from kunwind for perf, BPF and ftrace");
MODULE_LICENSE("Dual MIT/GPL");

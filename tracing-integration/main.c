// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-tracing.ko gives perf, BPF and ftrace whole user stacks. The tools need no change:
 * ftrace replaces the functions of the kernel that walk user stacks for them.
 */
#include <linux/module.h>
#include <kunwind/version.h>
#include "callchain.h"
#include "deferred.h"
#include "demand.h"
#include "kfunc.h"
#include "user-stack.h"

static int __init kunwind_tracing_init(void)
{
	int ret;

	ret = callchain_init();
	if (ret)
		return ret;
	ret = deferred_init();
	if (ret)
		return ret;
	ret = user_stack_init();
	if (ret)
		return ret;
	ret = kfunc_init();
	if (ret)
		goto exit_user_stack;
	ret = demand_init();
	if (ret)
		goto exit_kfunc;
	return 0;

exit_kfunc:
	kfunc_exit();
exit_user_stack:
	user_stack_exit();
	return ret;
}

static void __exit kunwind_tracing_exit(void)
{
	demand_exit();
	kfunc_exit();
	user_stack_exit();
}

module_init(kunwind_tracing_init);
module_exit(kunwind_tracing_exit);
MODULE_DESCRIPTION("Complete user call stacks for perf, BPF and ftrace, with kunwind");
MODULE_VERSION(KUNWIND_VERSION);
MODULE_LICENSE("Dual MIT/GPL");

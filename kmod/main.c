// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind.ko: loading and unloading. */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <kunwind/version.h>
#include "budget.h"
#include "build.h"
#include "cache.h"
#include "consumer.h"
#include "device.h"
#include "permission.h"
#include "snapshot.h"
#include "space.h"
#include "stats.h"
#include "thread.h"
#include "walk_place.h"
#include "work.h"

static unsigned int table_budget_mb;
module_param(table_budget_mb, uint, 0444);
MODULE_PARM_DESC(table_budget_mb,
		 "Most memory that all unwind tables may use (MiB; default: 1/64 of RAM, at least 64)");

static unsigned int build_budget_mb;
module_param(build_budget_mb, uint, 0444);
MODULE_PARM_DESC(build_budget_mb,
		 "Most memory that compiling tables may use at a time (MiB; default: 1/16 of RAM, at least 256)");

static unsigned long budget(unsigned int mb, unsigned int part, unsigned int least)
{
	unsigned long ram_mb = totalram_pages() >> (20 - PAGE_SHIFT);

	return (mb ?: max_t(unsigned long, ram_mb / part, least)) << 20;
}

static int __init kunwind_init(void)
{
	int ret;

	kw_table_budget = budget(table_budget_mb, 64, 64);
	kw_build_budget = budget(build_budget_mb, 16, 256);
	kw_hooks_init();
	kw_spaces_init();
	ret = kw_walks_init();
	if (ret)
		return ret;
	ret = kw_cache_init();
	if (ret)
		return ret;
	ret = kw_budget_init();
	if (ret)
		goto exit_cache;
	ret = kw_snapshots_init();
	if (ret)
		goto exit_budget;
	ret = kw_stats_init();
	if (ret)
		goto exit_snapshots;
	ret = kw_threads_init();
	if (ret)
		goto exit_stats;
	kw_permission_init();
	/* Last: from here on, processes can open the device. */
	ret = kw_device_init();
	if (ret)
		goto exit_threads;
	return 0;

exit_threads:
	kw_threads_exit();
exit_stats:
	kw_stats_exit();
exit_snapshots:
	kw_snapshots_exit();
exit_budget:
	kw_budget_exit();
exit_cache:
	kw_cache_exit();
	return ret;
}

static void __exit kunwind_exit(void)
{
	kw_device_exit();
	kw_threads_exit();
	kw_consumers_exit();
	kw_work_exit();
	/* For the last instructions of run(); see work.c. */
	synchronize_rcu_tasks();
	kw_stats_exit();
	/* Spaces have put snapshots, and these put tables. */
	WARN_ON(kw_gauge(spaces));
	kw_snapshots_exit();
	kw_budget_exit();
	kw_cache_exit();
}

module_init(kunwind_init);
module_exit(kunwind_exit);
MODULE_DESCRIPTION("Unwinds user call stacks in the kernel, from the programs' own .eh_frame");
MODULE_VERSION(KUNWIND_VERSION);
MODULE_LICENSE("Dual MIT/GPL");

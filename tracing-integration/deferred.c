// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Replace unwind_user(), which follows frame pointers for callchains that a task takes itself
 * before it returns to user mode: perf record --call-graph fp,defer. Kernels without this
 * function have nothing to replace.
 *
 * No frame is lost, as in callchain.c.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <kunwind/kunwind.h>
#include <kunwind/redirect.h>
#include <uapi/linux/kunwind.h>
#include "compat/unwind_user.h"
#include "deferred.h"

DEFINE_STATIC_CALL_NULL(stock_unwind_user, unwind_user);

/* Return: the stop reason. */
static u32 walk(struct unwind_stacktrace *trace, unsigned int max_entries)
{
	struct kunwind_result result;

	static_assert(sizeof(*trace->entries) == sizeof(u64));
	kunwind_walk(NULL, (u64 *)trace->entries, max_entries, &result);
	trace->nr = result.count;
	return result.stop;
}

static int walk_stock(struct unwind_stacktrace *trace, unsigned int max_entries)
{
	int ret = static_call(stock_unwind_user)(trace, max_entries);

	/* Keep the call from being a jump: the redirect checks the return address. */
	barrier();
	return ret;
}

static int walk_longest(struct unwind_stacktrace *trace, unsigned int max_entries)
{
	unsigned int count, stock;
	int ret;

	switch (walk(trace, max_entries)) {
	case KUNWIND_STOP_COMPLETE:
	case KUNWIND_STOP_CAPACITY:
		return 0;
	}
	count = trace->nr;
	ret = walk_stock(trace, max_entries);
	if (!ret && trace->nr > count)
		return 0;
	stock = ret ? 0 : trace->nr;
	walk(trace, max_entries);
	/* Coverage may have ended while the kernel's own walk slept. */
	if (trace->nr < stock)
		return walk_stock(trace, max_entries);
	return trace->nr ? 0 : ret;
}

/*
 * int unwind_user(trace, max_entries), before current returns to user mode; gives back the
 * redirect's reference to the module. The kernel's own walk faults pages in.
 */
static int unwind(struct unwind_stacktrace *trace, unsigned int max_entries)
{
	int ret = max_entries ? walk_longest(trace, max_entries) :
				walk_stock(trace, max_entries);

	module_put(THIS_MODULE);
	return ret;
}

static struct kunwind_redirect redirect = {
	.from = "unwind_user",
	.to = unwind,
	.owner = THIS_MODULE,
	.sleeps = true,
};

static bool exists;

int deferred_begin(void)
{
	return exists ? kunwind_redirect_begin(&redirect, 1) : 0;
}

/* On return, no walk has been entered; those that run hold the module. */
void deferred_end(void)
{
	if (!exists)
		return;
	kunwind_redirect_end(&redirect, 1);
	synchronize_rcu_tasks();
}

/* Try the redirect once, so that loading the module fails if it cannot work later. */
int deferred_init(void)
{
	unsigned long addr = kunwind_function(redirect.from);

	if (!addr)
		return 0;
	exists = true;
	static_call_update(stock_unwind_user, (typeof(unwind_user) *)addr);
	return kunwind_redirect_try(&redirect, 1);
}

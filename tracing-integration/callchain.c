// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind's walk in the place of perf_callchain_user(), which follows frame pointers for
 * perf and for BPF. It is replaced while somebody wants callchains (demand.c).
 *
 * perf has a callchain in its own buffer, and that is where the walk writes. No frame is
 * lost by it: where kunwind cannot reach the end of a stack, and the kernel's own walk
 * finds more frames, these are taken.
 */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <kunwind/kunwind.h>
#include <kunwind/redirect.h>
#include <uapi/linux/kunwind.h>
#include "callchain.h"

/*
 * The kernel's own. A call through a pointer would fault where the kernel has removed the
 * landing pad of a function whose address nobody takes (IBT).
 */
DEFINE_STATIC_CALL_NULL(stock_callchain_user, perf_callchain_user);

static void walk_stock(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	static_call(stock_callchain_user)(ctx, regs);
	/* So that it is no jump: the redirect knows this module by its return address. */
	barrier();
}

static void forget(struct perf_callchain_entry_ctx *ctx, u32 frames)
{
	ctx->nr -= frames;
	ctx->entry->nr -= frames;
}

/* Return: how the walk ended; the number of frames that it has added is in @count. */
static u32 walk(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs, u32 *count)
{
	struct perf_callchain_entry *entry = ctx->entry;
	struct kunwind_result result;

	kunwind_walk(regs, &entry->ip[entry->nr], ctx->max_stack - ctx->nr, &result);
	ctx->nr += result.count;
	entry->nr += result.count;
	*count = result.count;
	return result.stop;
}

/*
 * Whether the sample hit a guest of KVM's, whose stack is not the process's. KVM's word on
 * that is not exported, but the kernel's own walk has it, and adds no frame then.
 */
static bool is_in_guest(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	u32 before = ctx->nr, max_stack = ctx->max_stack;
	bool in_guest;

	if (likely(!(current->flags & PF_VCPU)))
		return false;
	ctx->max_stack = before + 1;
	walk_stock(ctx, regs);
	ctx->max_stack = max_stack;
	in_guest = ctx->nr == before;
	forget(ctx, ctx->nr - before);
	return in_guest;
}

/* void perf_callchain_user(ctx, regs), in any context: @regs are user registers */
static void callchain_user(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	u32 before = ctx->nr, count, stock;

	if (ctx->contexts_maxed || before >= ctx->max_stack || is_in_guest(ctx, regs))
		return;
	switch (walk(ctx, regs, &count)) {
	case KUNWIND_STOP_COMPLETE:
	case KUNWIND_STOP_CAPACITY:
		return;
	}
	forget(ctx, count);
	walk_stock(ctx, regs);
	stock = ctx->nr - before;
	if (stock >= count)
		return;
	forget(ctx, stock);
	walk(ctx, regs, &count);
}

static struct kunwind_redirect redirect = {
	.from = "perf_callchain_user",
	.to = callchain_user,
	.owner = THIS_MODULE,
};

int callchain_begin(void)
{
	return kunwind_redirect_begin(&redirect);
}

/* When it returns, no walk is under way any more. */
void callchain_end(void)
{
	kunwind_redirect_end(&redirect);
	synchronize_rcu_tasks();
}

/* Return: 0; as kunwind_redirect_begin() if it will fail when it is wanted. */
int callchain_init(void)
{
	unsigned long addr = kunwind_function(redirect.from);
	int ret;

	if (!addr)
		return -ENOENT;
	static_call_update(stock_callchain_user, (typeof(perf_callchain_user) *)addr);
	ret = callchain_begin();
	callchain_end();
	return ret;
}

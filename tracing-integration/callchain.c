// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Replace perf_callchain_user(), which follows frame pointers for perf and for BPF, by
 * kunwind's walk, while perf or BPF want callchains (demand.c).
 *
 * The walk writes into perf's own buffer for callchains. No frame is lost: if kunwind does
 * not reach the end of a stack, and the kernel's own walk finds more frames, these are taken.
 */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <xen/xen.h>
#include <kunwind/kunwind.h>
#include <kunwind/redirect.h>
#include <uapi/linux/kunwind.h>
#include "callchain.h"

/*
 * The kernel's own function. With IBT, the kernel removes the landing pad of a function whose
 * address no code takes, so a call through a pointer would fault. A static call is direct.
 */
DEFINE_STATIC_CALL_NULL(stock_callchain_user, perf_callchain_user);

static void walk_stock(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	static_call(stock_callchain_user)(ctx, regs);
	/* Keep the call from being a jump: the redirect checks the return address. */
	barrier();
}

static void forget(struct perf_callchain_entry_ctx *ctx, u32 frames)
{
	ctx->nr -= frames;
	ctx->entry->nr -= frames;
}

/* Walk, and add frames to the callchain. *@count: how many. Return: the stop reason. */
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
 * Whether the sample hit a KVM guest, whose stack is not the process's. The kernel does not
 * export the function that tells, but its own walk calls it, and adds no frame for a guest.
 * In Xen's dom0 nothing marks the task that was current.
 */
static bool is_in_guest(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	u32 before = ctx->nr, max_stack = ctx->max_stack;
	bool in_guest;

	if (likely(!(current->flags & PF_VCPU) && !xen_pv_domain()))
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
	if (stock > count)
		return;
	forget(ctx, stock);
	walk(ctx, regs, &count);
	/* Meanwhile, another thread may have mapped so much that this walk says less. */
	if (count < stock) {
		forget(ctx, count);
		walk_stock(ctx, regs);
	}
}

static struct kunwind_redirect redirect = {
	.from = "perf_callchain_user",
	.to = callchain_user,
	.owner = THIS_MODULE,
};

int callchain_begin(void)
{
	return kunwind_redirect_begin(&redirect, 1);
}

/* On return, no walk is running. */
void callchain_end(void)
{
	kunwind_redirect_end(&redirect, 1);
	synchronize_rcu_tasks();
}

/* Try the redirect once, so that loading the module fails if it cannot work later. */
int callchain_init(void)
{
	unsigned long addr = kunwind_function(redirect.from);

	if (!addr)
		return -ENOENT;
	static_call_update(stock_callchain_user, (typeof(perf_callchain_user) *)addr);
	return kunwind_redirect_try(&redirect, 1);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk that replaces arch_stack_walk_user(), which follows frame pointers: see user-walk.h.
 * ftrace records eight frames of a stack, the event up to MAX_FRAMES.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/stacktrace.h>
#include <linux/static_call.h>
#include <kunwind/kunwind.h>
#include <kunwind/redirect.h>
#include "coverage.h"
#include "user-stack-event.h"
#include "user-walk.h"

/* As many as fit into one page of ftrace's ring buffer, the limit of an event. */
#define MAX_FRAMES	500
/* Frames of the first walk. Callers mostly want eight; 16 take no longer. */
#define FIRST_FRAMES	16
/* Softirqs, interrupts and NMIs can interrupt a walk, and walk themselves. */
#define MAX_NESTING	4

/*
 * One for each CPU: made by user_walk_begin(), freed by user_walk_end(). Each walk has the next
 * buffer from enter() to leave(), preemption off.
 */
struct buffers {
	unsigned int nesting;
	u64 frames[MAX_NESTING][MAX_FRAMES];
};

static struct buffers __percpu *buffers;

DEFINE_STATIC_CALL_NULL(stock_walk_user, arch_stack_walk_user);

static void walk_stock(stack_trace_consume_fn consume, void *cookie,
		       const struct pt_regs *regs)
{
	static_call(stock_walk_user)(consume, cookie, regs);
	/* Keep the call from being a jump: the redirect checks the return address. */
	barrier();
}

/*
 * Return: room for MAX_FRAMES; NULL if all buffers of this CPU are in use, or if no process is
 * covered yet.
 */
static u64 *enter(void)
{
	struct buffers *own;

	preempt_disable();
	own = this_cpu_ptr(buffers);
	if (coverage_is_there() && own->nesting < MAX_NESTING)
		return own->frames[own->nesting++];
	preempt_enable();
	return NULL;
}

static void leave(void)
{
	/* Before here, a walk that interrupts this one must take the next buffer. */
	barrier();
	this_cpu_ptr(buffers)->nesting--;
	preempt_enable();
}

/* Count down from a limit in @cookie; stop at the first frame beyond it. */
static bool count_down(void *cookie, unsigned long addr)
{
	int *left = cookie;

	return --*left >= 0;
}

static bool is_stock_longer(u32 count, const struct pt_regs *regs)
{
	int left = count;

	walk_stock(count_down, &left, regs);
	return left < 0;
}

/* Return: whether @consume wants more. */
static bool feed(stack_trace_consume_fn consume, void *cookie, const u64 *frames, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!consume(cookie, frames[i]))
			return false;
	return true;
}

static void walk(u64 *frames, stack_trace_consume_fn consume, void *cookie,
		 const struct pt_regs *regs)
{
	struct kunwind_result result;
	u32 fed = 0;
	bool more;

	kunwind_walk(regs, frames, FIRST_FRAMES, &result);
	if (result.stop == KUNWIND_STOP_CAPACITY) {
		fed = result.count;
		more = feed(consume, cookie, frames, fed);
		if (!more && !trace_user_stack_enabled())
			return;
		kunwind_walk(regs, frames, MAX_FRAMES, &result);
		if (more && result.count > fed)
			feed(consume, cookie, frames + fed, result.count - fed);
	} else if (result.stop != KUNWIND_STOP_COMPLETE &&
		   is_stock_longer(result.count, regs)) {
		walk_stock(consume, cookie, regs);
	} else {
		feed(consume, cookie, frames, result.count);
	}
	trace_user_stack(frames, &result);
}

/* void arch_stack_walk_user(consume, cookie, regs): @regs are current's user registers */
static void walk_user(stack_trace_consume_fn consume, void *cookie,
		      const struct pt_regs *regs)
{
	u64 *frames = enter();

	if (!frames) {
		walk_stock(consume, cookie, regs);
		return;
	}
	walk(frames, consume, cookie, regs);
	leave();
}

static struct kunwind_redirect redirect = {
	.from = "arch_stack_walk_user",
	.to = walk_user,
	.owner = THIS_MODULE,
};

int user_walk_init(void)
{
	unsigned long addr = kunwind_function(redirect.from);

	if (!addr)
		return -ENOENT;
	static_call_update(stock_walk_user, (typeof(arch_stack_walk_user) *)addr);
	/* Try it once, so that loading the module fails if it cannot work later. */
	return kunwind_redirect_try(&redirect, 1);
}

int user_walk_begin(void)
{
	int ret;

	buffers = alloc_percpu(struct buffers);
	if (!buffers)
		return -ENOMEM;
	ret = kunwind_redirect_begin(&redirect, 1);
	if (ret)
		free_percpu(buffers);
	return ret;
}

void user_walk_end(void)
{
	kunwind_redirect_end(&redirect, 1);
	synchronize_rcu_tasks();
	free_percpu(buffers);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Replace arch_stack_walk_user(), which follows frame pointers for ftrace's option
 * userstacktrace, by kunwind's walk. ftrace records eight frames of a stack. The event
 * kunwind:user_stack records up to MAX_FRAMES.
 *
 * ftrace does not tell a module that the option is set. So the function is replaced while the
 * event is enabled, or while the module's parameter userstacktrace is set.
 *
 * The kernel enables an event under a lock that loading a module needs, too. Covering all
 * processes can take ten seconds. So a worker does it, and the task that enables the event waits
 * for a second at most. Until all are covered, stacks are the kernel's own.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/stacktrace.h>
#include <linux/static_call.h>
#include <linux/trace_events.h>
#include <linux/workqueue.h>
#include <kunwind/kunwind.h>
#include <kunwind/redirect.h>
#include "user-stack.h"

#define CREATE_TRACE_POINTS
#include "user-stack-event.h"

/* As many as fit into one page of ftrace's ring buffer, the limit of an event. */
#define MAX_FRAMES	500
/* Frames of the first walk. Callers mostly want eight; 16 take no longer. */
#define FIRST_FRAMES	16
/* Softirqs, interrupts and NMIs can interrupt a walk, and walk themselves. */
#define MAX_NESTING	4
/* How long to wait for coverage: in most systems it is there after some milliseconds. */
#define COVER_PATIENCE	HZ

/* One for each CPU. Each walk has the next buffer from enter() to leave(), preemption off. */
struct buffers {
	unsigned int nesting;
	u64 frames[MAX_NESTING][MAX_FRAMES];
};

static DEFINE_MUTEX(users_lock);
/* Under users_lock: */
static unsigned int nr_users;
static bool is_up;
static bool is_option_on;
static bool is_event_on;
/* Written by cover() alone; read with preemption off. */
static struct kunwind_consumer *consumer;
/* Whether cover() should attach or detach; under users_lock. */
static bool is_coverage_wanted;
/* How the last attempt to attach ended, when @covered is complete. */
static int cover_error;
static DECLARE_COMPLETION(covered);
/* Made by bring_up() for the first user; freed by take_down(), when no walk is running. */
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
	if (READ_ONCE(consumer) && own->nesting < MAX_NESTING)
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

static void attach(void)
{
	struct kunwind_consumer *fresh = kunwind_attach();

	cover_error = PTR_ERR_OR_ZERO(fresh);
	if (!cover_error)
		WRITE_ONCE(consumer, fresh);
	else
		pr_warn("no coverage for kunwind:user_stack (error %d)\n", cover_error);
}

static void detach(void)
{
	struct kunwind_consumer *old = consumer;

	WRITE_ONCE(consumer, NULL);
	/* For walks with it. */
	synchronize_rcu();
	kunwind_detach(old);
}

/* Attach or detach, as the last user wanted. */
static void cover(struct work_struct *work)
{
	if (READ_ONCE(is_coverage_wanted)) {
		if (!consumer)
			attach();
		complete_all(&covered);
	} else if (consumer) {
		detach();
	}
}

static DECLARE_WORK(covering, cover);

static void want_coverage(bool wanted)
{
	lockdep_assert_held(&users_lock);
	WRITE_ONCE(is_coverage_wanted, wanted);
	queue_work(system_long_wq, &covering);
}

static void take_down(void)
{
	kunwind_redirect_end(&redirect, 1);
	synchronize_rcu_tasks();
	free_percpu(buffers);
	want_coverage(false);
	/* The kernel disables an event after the module's exit: then nothing may be left to do. */
	if (!is_up)
		flush_work(&covering);
}

static int bring_up(void)
{
	int ret;

	buffers = alloc_percpu(struct buffers);
	if (!buffers)
		return -ENOMEM;
	ret = kunwind_redirect_begin(&redirect, 1);
	if (ret) {
		free_percpu(buffers);
		return ret;
	}
	reinit_completion(&covered);
	want_coverage(true);
	if (!wait_for_completion_timeout(&covered, COVER_PATIENCE) || !cover_error)
		return 0;
	ret = cover_error;
	take_down();
	return ret;
}

static int begin(void)
{
	int ret = 0;

	lockdep_assert_held(&users_lock);
	if (!nr_users)
		ret = bring_up();
	if (!ret)
		nr_users++;
	return ret;
}

static void end(void)
{
	lockdep_assert_held(&users_lock);
	if (!--nr_users)
		take_down();
}

/*
 * The event counts as one user, from its first probe to its last. The kernel can enable the
 * event before the module's init runs (`:mod:kunwind_tracing`), so probes cannot be counted.
 */
static int event_begin(void)
{
	int ret = 0;

	lockdep_assert_held(&users_lock);
	if (!is_event_on)
		ret = begin();
	if (!ret)
		is_event_on = true;
	return ret;
}

static void event_end_if_off(void)
{
	lockdep_assert_held(&users_lock);
	if (!is_event_on || trace_user_stack_enabled())
		return;
	is_event_on = false;
	end();
}

/*
 * The event has all processes covered, while it is open. perf asks only who wants the
 * event's bytes; to count events, any user that perf knows could open it.
 */
static int event_perf_perm(struct trace_event_call *call, struct perf_event *event)
{
	/* A child inherits the event of its parent, which was allowed. */
	return event->parent || perfmon_capable() ? 0 : -EACCES;
}

/*
 * Replaces trace_event_reg(), which registers the event's probe. The tracepoint's own
 * callbacks cannot attach: they run under a lock that attaching takes.
 */
static int event_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	int ret = 0;

	switch (type) {
	case TRACE_REG_REGISTER:
	case TRACE_REG_UNREGISTER:
	case TRACE_REG_PERF_REGISTER:
	case TRACE_REG_PERF_UNREGISTER:
		break;
	default:
		/* Perhaps in an interrupt. */
		return trace_event_reg(call, type, data);
	}
	mutex_lock(&users_lock);
	if (type == TRACE_REG_REGISTER || type == TRACE_REG_PERF_REGISTER)
		ret = event_begin();
	if (!ret)
		ret = trace_event_reg(call, type, data);
	event_end_if_off();
	mutex_unlock(&users_lock);
	return ret;
}

/* While the module is being loaded or unloaded, only note the value. */
static int set_option(const char *value, const struct kernel_param *param)
{
	bool on;
	int ret;

	ret = kstrtobool(value, &on);
	if (ret)
		return ret;
	mutex_lock(&users_lock);
	if (is_up && on && !is_option_on)
		ret = begin();
	if (is_up && !on && is_option_on)
		end();
	if (!ret)
		is_option_on = on;
	mutex_unlock(&users_lock);
	return ret;
}

static const struct kernel_param_ops option_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = set_option,
	.get = param_get_bool,
};
module_param_cb(userstacktrace, &option_ops, &is_option_on, 0644);
MODULE_PARM_DESC(userstacktrace,
		 "Use kunwind's stacks for ftrace's option userstacktrace (default: no; the event kunwind:user_stack turns it on while it is enabled)");

int user_stack_init(void)
{
	unsigned long addr = kunwind_function(redirect.from);
	int ret;

	if (!addr)
		return -ENOENT;
	static_call_update(stock_walk_user, (typeof(arch_stack_walk_user) *)addr);
	/* Try it once, so that loading the module fails if it cannot work later. */
	ret = kunwind_redirect_try(&redirect, 1);
	if (ret)
		return ret;
	mutex_lock(&users_lock);
	event_class_user_stack.reg = event_reg;
	event_user_stack.perf_perm = event_perf_perm;
	if (is_option_on)
		ret = begin();
	if (!ret && trace_user_stack_enabled()) {
		ret = event_begin();
		if (ret && is_option_on)
			end();
	}
	is_up = !ret;
	mutex_unlock(&users_lock);
	return ret;
}

/*
 * After this, root can still write the parameter, until the kernel frees the module. Before it
 * does, the kernel disables the event.
 */
void user_stack_exit(void)
{
	mutex_lock(&users_lock);
	if (is_option_on)
		end();
	event_end_if_off();
	is_up = false;
	mutex_unlock(&users_lock);
	flush_work(&covering);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The event kunwind:user_stack, and the module's parameter userstacktrace. ftrace does not tell
 * a module that its option userstacktrace is set. So user stacks are kunwind's while the event
 * is enabled, or while the parameter is set.
 */
#include <linux/capability.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>
#include "coverage.h"
#include "user-stack.h"
#include "user-walk.h"

#define CREATE_TRACE_POINTS
#include "user-stack-event.h"

static DEFINE_MUTEX(users_lock);
/* Under users_lock: */
static unsigned int nr_users;
static bool is_up;
static bool is_option_on;
static bool is_event_on;

/* The kernel disables an event after the module's exit: then nothing may be left to do. */
static void settle_if_down(void)
{
	if (!is_up)
		coverage_settle();
}

static void take_down(void)
{
	user_walk_end();
	coverage_end();
	settle_if_down();
}

static int bring_up(void)
{
	int ret;

	ret = user_walk_begin();
	if (ret)
		return ret;
	ret = coverage_begin();
	if (ret) {
		user_walk_end();
		settle_if_down();
	}
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
	int ret;

	ret = user_walk_init();
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
	coverage_settle();
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Coverage of all processes, for the event kunwind:user_stack: see coverage.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include <kunwind/kunwind.h>
#include "coverage.h"

/* How long to wait for coverage: in most systems it is there after some milliseconds. */
#define PATIENCE	HZ

/* Written by cover() alone; read with preemption off. */
static struct kunwind_consumer *consumer;
/* Whether cover() should attach or detach. */
static bool is_wanted;
/* How the last attempt to attach ended, when @covered is complete. */
static int error;
static DECLARE_COMPLETION(covered);

bool coverage_is_there(void)
{
	return READ_ONCE(consumer);
}

static void attach(void)
{
	struct kunwind_consumer *fresh = kunwind_attach();

	WRITE_ONCE(error, PTR_ERR_OR_ZERO(fresh));
	if (!error)
		WRITE_ONCE(consumer, fresh);
	else
		pr_warn("no coverage for kunwind:user_stack (error %d)\n", error);
}

static void detach(void)
{
	struct kunwind_consumer *old = consumer;

	WRITE_ONCE(consumer, NULL);
	/* For walks with it. */
	synchronize_rcu();
	kunwind_detach(old);
}

/* Attach or detach, as was asked for last. */
static void cover(struct work_struct *work)
{
	if (READ_ONCE(is_wanted)) {
		if (!consumer)
			attach();
		complete_all(&covered);
	} else if (consumer) {
		detach();
	}
}

static DECLARE_WORK(covering, cover);

static void want(bool wanted)
{
	WRITE_ONCE(is_wanted, wanted);
	queue_work(system_long_wq, &covering);
}

int coverage_begin(void)
{
	int ret = 0;

	reinit_completion(&covered);
	want(true);
	if (wait_for_completion_timeout(&covered, PATIENCE))
		ret = READ_ONCE(error);
	if (ret)
		want(false);
	return ret;
}

void coverage_end(void)
{
	want(false);
}

void coverage_settle(void)
{
	flush_work(&covering);
}

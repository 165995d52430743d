// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Coverage of all processes, for the event kunwind:user_stack: see coverage.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <kunwind/kunwind.h>
#include "coverage.h"

/* How long to wait for coverage: in most systems it is there after some milliseconds. */
#define PATIENCE	HZ

/* Written by cover() alone; read with preemption off. */
static struct kunwind_consumer *consumer;
/* The last request, and whether cover() should attach then, or detach. */
static unsigned int request;
static bool is_wanted;
/* The last request to attach that cover() has answered, and how attaching ended. */
static unsigned int answered;
static int error;
static DECLARE_WAIT_QUEUE_HEAD(answers);

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
	/* With is_wanted of that request, or a later one, which queues this again. */
	unsigned int number = smp_load_acquire(&request);

	if (READ_ONCE(is_wanted)) {
		if (!consumer)
			attach();
		/* After @error. */
		smp_store_release(&answered, number);
		wake_up_all(&answers);
	} else if (consumer) {
		detach();
	}
}

static DECLARE_WORK(covering, cover);

static void want(bool wanted)
{
	WRITE_ONCE(is_wanted, wanted);
	/* After it: cover() reads the other way round. */
	smp_store_release(&request, request + 1);
	/* Attaching keeps a CPU busy for seconds, and a CPU may be another task's for ever. */
	queue_work(system_unbound_wq, &covering);
}

int coverage_begin(void)
{
	int ret = 0;

	want(true);
	/* Before @error. */
	if (wait_event_timeout(answers, smp_load_acquire(&answered) == request, PATIENCE))
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

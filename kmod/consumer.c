// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The first consumer registers the hooks. When the last one goes, all tables go, but the hooks
 * stay for minutes: registering them patches the kernel's text, and any user can open and
 * close the device.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "budget.h"
#include "consumer.h"
#include "coverage.h"
#include "stats.h"
#include "times.h"
#include "walk_place.h"
#include "work.h"

static unsigned int hooks_stay_s = KW_HOOKS_STAY_S;
module_param(hooks_stay_s, uint, 0444);
MODULE_PARM_DESC(hooks_stay_s,
		 "How long the kernel stays hooked after the last consumer has gone (s; default: 300)");

static DEFINE_MUTEX(consumers_lock);
/* Under consumers_lock: */
static bool is_up;
/* Consumers of all processes, or of a user's. Written under consumers_lock. */
static HLIST_HEAD(wanting);

bool kw_is_any_wanted(void)
{
	return !hlist_empty(&wanting);
}

/*
 * Whether a consumer wants the processes of @uid. A consumer that may see the whole system wants
 * all processes. A consumer without that privilege wants those of its own user. The user of
 * a process is its real one: perf lets that user trace it, unless its program is set-user-ID.
 *
 * Hooks ask at each new mapping of an mm that is not covered, so asking takes no lock.
 * Context: any but NMI.
 */
bool kw_is_wanted(kuid_t uid)
{
	const struct kunwind_consumer *c;
	bool wanted = false;

	rcu_read_lock();
	hlist_for_each_entry_rcu(c, &wanting, node) {
		wanted = !uid_valid(c->uid) || uid_eq(c->uid, uid);
		if (wanted)
			break;
	}
	rcu_read_unlock();
	return wanted;
}

static int bring_up(void)
{
	int ret;

	lockdep_assert_held(&consumers_lock);
	if (is_up)
		return 0;
	ret = kw_walks_open();
	if (ret)
		return ret;
	ret = kw_hooks_register();
	if (ret) {
		kw_walks_close();
		return ret;
	}
	is_up = true;
	return 0;
}

static void take_down(struct work_struct *work)
{
	mutex_lock(&consumers_lock);
	if (is_up && !kw_gauge(consumers)) {
		kw_hooks_unregister();
		/* A walk that a consumer started may still be running. */
		synchronize_rcu();
		kw_walks_close();
		is_up = false;
	}
	mutex_unlock(&consumers_lock);
}

static DECLARE_DELAYED_WORK(hooks_go, take_down);

/* If there is a new consumer, the tables may be its own. */
static void evict_idle(struct work_struct *work)
{
	while (!kw_gauge(consumers) && kw_idle_evict())
		;
}

static DECLARE_WORK(tables_go, evict_idle);

static int enlist(struct kunwind_consumer *c)
{
	int ret;

	/* Where there is a consumer, another one of one mm need not wait for the lock. */
	if (c->mm && atomic_long_inc_not_zero(&kw_gauges.consumers))
		return 0;
	if (mutex_lock_killable(&consumers_lock))
		return -EINTR;
	ret = bring_up();
	if (ret) {
		mutex_unlock(&consumers_lock);
		return ret;
	}
	if (!c->mm) {
		hlist_add_head_rcu(&c->node, &wanting);
		kw_spaces_settle();
	}
	kw_gauge_add(consumers, 1);
	mutex_unlock(&consumers_lock);
	/* Now, as the next fork may come at once. */
	if (!c->mm)
		kw_spares_fill();
	return 0;
}

static void delist(struct kunwind_consumer *c)
{
	bool last;

	if (!c->mm) {
		mutex_lock(&consumers_lock);
		hlist_del_rcu(&c->node);
		if (!kw_is_any_wanted())
			kw_spares_free();
		mutex_unlock(&consumers_lock);
		/* There can be many: without the lock, which others want. The hooks stay. */
		kw_spaces_prune();
	}
	/* Without the lock, which no exit of a process should wait for: take_down() looks again. */
	last = atomic_long_dec_and_test(&kw_gauges.consumers);
	/*
	 * The hooks go later, if there is no consumer then either. The tables go now, but other
	 * users may have many: not in this task, which may be exiting.
	 */
	if (last) {
		mod_delayed_work(system_long_wq, &hooks_go, (unsigned long)hooks_stay_s * HZ);
		queue_work(system_unbound_wq, &tables_go);
	}
	/*
	 * Only a tracer of all processes waits. Any user can have work that stays pending, and
	 * other users must not wait for it when they close the device.
	 */
	if (last && !c->mm && !uid_valid(c->uid))
		kw_work_drain();
}

/*
 * Start to consume stacks: those of @uid's processes, or of all (KW_EVERYBODY), if @mm is NULL;
 * else those of the process @pid of the user @uid, which has @mm. The caller holds @mm, not its
 * users, and makes the first snapshot, by kw_work_queue() or kw_attach_one().
 * Context: process context, sleeps. Return: as kunwind_attach().
 */
struct kunwind_consumer *kw_consumer_open(struct mm_struct *mm, pid_t pid, kuid_t uid)
{
	struct kunwind_consumer *c;
	int ret;

	might_sleep();
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->mm = mm;
	c->uid = uid;
	ret = enlist(c);
	if (ret) {
		kfree(c);
		return ERR_PTR(ret);
	}
	if (mm) {
		mmgrab(mm);
		c->space = kw_space_hold(mm, pid, uid);
		ret = c->space ? 0 : -ENOMEM;
	} else {
		ret = kw_attach(uid);
	}
	if (!ret)
		return c;
	kunwind_detach(c);
	return ERR_PTR(ret);
}

void kunwind_detach(struct kunwind_consumer *c)
{
	if (IS_ERR_OR_NULL(c))
		return;
	if (c->space)
		kw_space_unhold(c->space);
	delist(c);
	if (c->mm)
		mmdrop(c->mm);
	kfree_rcu(c, rcu);
}
EXPORT_SYMBOL_GPL(kunwind_detach);

struct kunwind_consumer *kunwind_attach(void)
{
	return kw_consumer_open(NULL, 0, KW_EVERYBODY);
}
EXPORT_SYMBOL_GPL(kunwind_attach);

struct kunwind_consumer *kunwind_attach_user(kuid_t uid)
{
	return uid_valid(uid) ? kw_consumer_open(NULL, 0, uid) : ERR_PTR(-EINVAL);
}
EXPORT_SYMBOL_GPL(kunwind_attach_user);

/* The module is being unloaded: there is no consumer, and none can come. */
void kw_consumers_exit(void)
{
	cancel_work_sync(&tables_go);
	cancel_delayed_work_sync(&hooks_go);
	take_down(NULL);
}

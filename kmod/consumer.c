// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The first consumer registers the hooks and opens the cache of tables. When the last
 * one goes, all tables go at once, but the hooks stay for minutes: registering them
 * patches the kernel's text, and any user can open and close the device.
 */
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "attach.h"
#include "budget.h"
#include "cache.h"
#include "consumer.h"
#include "coverage.h"
#include "hooks.h"
#include "spares.h"
#include "stats.h"
#include "walk_place.h"
#include "wanted.h"
#include "work.h"

unsigned long kw_hooks_stay __read_mostly;

static DEFINE_MUTEX(consumers_lock);
/* Under consumers_lock: */
static bool is_up;
static unsigned int nr_consumers;

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
	if (is_up && !nr_consumers) {
		kw_hooks_unregister();
		/* A walk that a consumer started may still be running. */
		synchronize_rcu();
		kw_walks_close();
		is_up = false;
	}
	mutex_unlock(&consumers_lock);
}

static DECLARE_DELAYED_WORK(hooks_go, take_down);

/* Unless there is a consumer: take the hooks down later, if there is none then either. */
static void hooks_may_go(void)
{
	lockdep_assert_held(&consumers_lock);
	if (!nr_consumers)
		mod_delayed_work(system_long_wq, &hooks_go, kw_hooks_stay);
}

/*
 * Nothing is allocated under the lock that is charged to the caller: at the limit of its
 * cgroup that can take long, and all others would wait.
 */
static int enlist(const struct kunwind_consumer *c)
{
	struct kw_wish *wish = NULL;
	int ret;

	if (!c->mm) {
		wish = kw_wish_alloc(c->uid);
		if (!wish)
			return -ENOMEM;
	}
	ret = -EINTR;
	if (mutex_lock_killable(&consumers_lock))
		goto free;
	ret = bring_up();
	if (ret) {
		hooks_may_go();
		goto unlock;
	}
	if (wish)
		kw_wanted_add(wish);
	if (!nr_consumers++)
		kw_tables_open();
	kw_gauge_add(consumers, 1);
	mutex_unlock(&consumers_lock);
	/* Now, as the next fork may come at once. */
	if (wish)
		kw_spares_fill();
	return 0;

unlock:
	mutex_unlock(&consumers_lock);
free:
	kfree(wish);
	return ret;
}

static void delist(const struct kunwind_consumer *c)
{
	bool last;

	mutex_lock(&consumers_lock);
	if (!c->mm) {
		kw_wanted_del(c->uid);
		kw_spaces_prune();
	}
	kw_gauge_sub(consumers, 1);
	last = !--nr_consumers;
	if (last) {
		kw_tables_close();
		hooks_may_go();
	}
	mutex_unlock(&consumers_lock);
	/* There can be many, and others wait for the lock. */
	while (last && kw_idle_evict())
		;
	/*
	 * Only a tracer of all processes waits. Any user can have work that stays pending, and
	 * other users must not wait for it when they close the device.
	 */
	if (last && !c->mm && !uid_valid(c->uid))
		kw_work_drain();
}

static int cover_own(struct kunwind_consumer *c)
{
	/* The caller waits for all files that it has mapped, those of file servers, too. */
	static const struct kw_range all = { 0, U64_MAX };
	int ret = kw_space_catch_up(c->space, c->mm, &all);

	return ret == -EAGAIN ? 0 : ret;
}

/* Cover the process @pid of the user @uid, which has @c->mm, and maybe is another one. */
static int cover_one(struct kunwind_consumer *c, pid_t pid, kuid_t uid)
{
	struct kw_space *space;

	/* Not after its last user has gone: who would remove the space then? */
	if (!mmget_not_zero(c->mm))
		return -ESRCH;
	space = kw_space_hold(c->mm, pid, uid);
	mmput_async(c->mm);
	if (IS_ERR(space))
		return PTR_ERR(space);
	c->space = space;
	if (c->mm == current->mm)
		return cover_own(c);
	return kw_attach_one(c->mm, pid, uid);
}

/*
 * Start to consume stacks: those of the process @pid of the user @uid, which has @mm. The
 * caller holds @mm, not its users. If @mm is NULL, those of @uid's processes, or of all
 * (KW_EVERYBODY).
 * Context: process context, sleeps. Return: as kunwind_attach(); -ESRCH, too, if @mm has no
 * users any more.
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
	if (ret)
		goto free;
	if (mm)
		mmgrab(mm);
	ret = mm ? cover_one(c, pid, uid) : kw_attach(uid);
	if (!ret)
		return c;
	kw_consumer_close(c);
	return ERR_PTR(ret);

free:
	kfree(c);
	return ERR_PTR(ret);
}

void kw_consumer_close(struct kunwind_consumer *c)
{
	if (c->space)
		kw_space_unhold(c->space);
	delist(c);
	if (c->mm)
		mmdrop(c->mm);
	kfree(c);
}

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

void kunwind_detach(struct kunwind_consumer *consumer)
{
	if (!IS_ERR_OR_NULL(consumer))
		kw_consumer_close(consumer);
}
EXPORT_SYMBOL_GPL(kunwind_detach);

/* The module is being unloaded: there is no consumer, and none can come. */
void kw_consumers_exit(void)
{
	cancel_delayed_work_sync(&hooks_go);
	take_down(NULL);
}

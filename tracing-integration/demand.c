// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Coverage starts when a tool wants callchains, and ends when no tool does. The kernel calls
 * get_callchain_buffers() before a perf event, a stack map or a BPF program that wants
 * callchains exists, and put_callchain_buffers() when that has gone. Both functions are
 * replaced as long as the module is loaded. perf_callchain_user() is replaced only while
 * there is coverage.
 *
 * If the caller has CAP_PERFMON, the whole system is covered. Otherwise the processes of the
 * caller's user are covered. perf may let that caller trace others, with CAP_SYS_PTRACE or a
 * low perf_event_paranoid: these get the kernel's own stacks.
 *
 * A put does not say which get it ends. So all coverage stays until no tool wants callchains,
 * and then for some seconds, as one tool often follows another.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/workqueue.h>
#include <kunwind/kunwind.h>
#include <kunwind/redirect.h>
#include "callchain.h"
#include "deferred.h"
#include "demand.h"

/* How long coverage stays when no tool wants callchains any more. */
#define LINGER	(5 * HZ)
/*
 * How long nothing is covered after the kernel's walks could not be replaced, because a livepatch
 * has come meanwhile, say. Attaching takes seconds, and each event of each CPU would attach.
 */
#define PAUSE	(60 * HZ)
/*
 * How many users are covered at a time: hooks look through them at each new mapping, and one
 * who has many user IDs could add each.
 */
#define MAX_COVERS	64

/*
 * A user whose processes are covered, or INVALID_UID for all. Made by the first get of that
 * user, or by a get with CAP_PERFMON, which attaches, sets @consumer and completes @attached;
 * other gets of that user wait for it. On the list under covers_lock until uncover(), or until it
 * could not attach. The list holds a reference, and so does each get that waits.
 */
struct cover {
	struct list_head node;
	refcount_t refs;
	kuid_t uid;
	struct kunwind_consumer *consumer;
	struct completion attached;
};

static DEFINE_MUTEX(covers_lock);
static LIST_HEAD(covers);
/* Whether the kernel's walks are replaced. Under covers_lock. */
static bool is_walking;
/* Until when nothing is covered, in jiffies. Under covers_lock. */
static unsigned long paused_until;
/*
 * Gets that have not shown in is_wanted() yet: no coverage ends, so that it is there when they do,
 * and no cover goes whose task is attaching.
 */
static atomic_t nr_getting = ATOMIC_INIT(0);

DEFINE_STATIC_CALL_NULL(stock_get, get_callchain_buffers);
DEFINE_STATIC_CALL_NULL(stock_put, put_callchain_buffers);
DEFINE_STATIC_CALL_NULL(stock_get_entry, get_callchain_entry);
DEFINE_STATIC_CALL_NULL(stock_put_entry, put_callchain_entry);

/*
 * Whether any tool wants callchains, even from before the module was loaded: only then does
 * the kernel have a buffer for them. If the buffer is in use (-1), by a BPF program that this
 * task has preempted, one does.
 */
static bool is_wanted(void)
{
	struct perf_callchain_entry *entry;
	int context;

	/* As perf calls it: the buffer of this CPU, which is freed after a grace period. */
	rcu_read_lock();
	preempt_disable();
	entry = static_call(stock_get_entry)(&context);
	if (entry)
		static_call(stock_put_entry)(context);
	preempt_enable();
	rcu_read_unlock();
	return entry || context == -1;
}

static void put_cover(struct cover *cover)
{
	if (refcount_dec_and_test(&cover->refs))
		kfree(cover);
}

/*
 * Return: what covers @uid, or will soon if another task of that user is attaching; NULL if nothing
 * does. No user waits for a task that attaches to all processes, which is another user's.
 */
static struct cover *find_cover(kuid_t uid)
{
	struct cover *cover;

	lockdep_assert_held(&covers_lock);
	list_for_each_entry(cover, &covers, node)
		if (uid_valid(cover->uid) ? uid_eq(cover->uid, uid) : !!cover->consumer)
			return cover;
	return NULL;
}

/* Why @uid cannot be covered now. Return: 0, -EBUSY, or -EUSERS if it was one user too many. */
static int refuse(kuid_t uid)
{
	const struct cover *cover;
	unsigned int count = 0;

	lockdep_assert_held(&covers_lock);
	if (time_before(jiffies, paused_until))
		return -EBUSY;
	list_for_each_entry(cover, &covers, node)
		count += uid_valid(cover->uid);
	return uid_valid(uid) && count >= MAX_COVERS ? -EUSERS : 0;
}

static void end_walks(void)
{
	lockdep_assert_held(&covers_lock);
	deferred_end();
	callchain_end();
	is_walking = false;
}

static int begin_walks(void)
{
	int ret;

	lockdep_assert_held(&covers_lock);
	if (is_walking)
		return 0;
	ret = callchain_begin();
	if (!ret) {
		ret = deferred_begin();
		if (ret)
			callchain_end();
	}
	if (ret)
		paused_until = jiffies + PAUSE;
	is_walking = !ret;
	return ret;
}

/* Add a cover for @uid, which is NULL if there was no memory. Return: 0; -ENOMEM; as refuse(). */
static int add(struct cover *cover, kuid_t uid)
{
	int ret = refuse(uid);

	if (ret || !cover)
		return ret ?: -ENOMEM;
	cover->uid = uid;
	refcount_set(&cover->refs, 1);
	init_completion(&cover->attached);
	list_add(&cover->node, &covers);
	return 0;
}

/*
 * Attach, for a cover on the list. It can take seconds, so it runs without the lock. Tasks with
 * CAP_PERFMON do not wait for one another: one that comes second here detaches again.
 * Return: as cover().
 */
static int attach(struct cover *cover)
{
	struct kunwind_consumer *consumer;
	bool stays;
	int ret;

	consumer = uid_valid(cover->uid) ? kunwind_attach_user(cover->uid) : kunwind_attach();
	ret = PTR_ERR_OR_ZERO(consumer);
	mutex_lock(&covers_lock);
	stays = !ret && (uid_valid(cover->uid) || !find_cover(cover->uid));
	if (stays)
		ret = begin_walks();
	stays = stays && !ret;
	if (stays)
		cover->consumer = consumer;
	else
		list_del(&cover->node);
	mutex_unlock(&covers_lock);
	complete_all(&cover->attached);
	if (!stays) {
		kunwind_detach(consumer);
		put_cover(cover);
	}
	return ret;
}

/*
 * Cover the processes of a user, or all (INVALID_UID). If another task of that user could not
 * attach, try anew. Context: with @nr_getting counted up.
 * Return: 0; -EINTR; -ENOMEM; as refuse(); what kunwind_attach() or kunwind_redirect_begin() says.
 */
static int cover(kuid_t uid)
{
	struct cover *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT), *found;
	bool covered = false;
	int ret = 0;

	while (!ret && !covered) {
		/* Its holder may be patching the kernel's text, or waiting for a grace period. */
		if (mutex_lock_killable(&covers_lock)) {
			ret = -EINTR;
			break;
		}
		found = find_cover(uid);
		if (found)
			refcount_inc(&found->refs);
		else
			ret = add(fresh, uid);
		mutex_unlock(&covers_lock);
		if (!found && !ret)
			return attach(fresh);
		if (!found)
			break;
		if (wait_for_completion_killable(&found->attached))
			ret = -EINTR;
		covered = found->consumer;
		put_cover(found);
	}
	kfree(fresh);
	return ret;
}

/*
 * End all coverage if no tool wants callchains any more, or if @always. Detach without the
 * lock.
 */
static void uncover(bool always)
{
	struct cover *cover, *next;
	LIST_HEAD(old);

	mutex_lock(&covers_lock);
	/* Pairs with get(): what it has made wanted shows. No task is attaching, so all have attached. */
	if (always || (!atomic_read_acquire(&nr_getting) && !is_wanted()))
		list_splice_init(&covers, &old);
	if (!list_empty(&old))
		end_walks();
	mutex_unlock(&covers_lock);
	list_for_each_entry_safe(cover, next, &old, node) {
		kunwind_detach(cover->consumer);
		put_cover(cover);
	}
}

static void uncover_unwanted(struct work_struct *work)
{
	uncover(false);
}

static DECLARE_DELAYED_WORK(end, uncover_unwanted);

/* Without coverage, tools still work, with the kernel's own stacks. */
static void warn_uncovered(int error)
{
	if (error && error != -EINTR)
		pr_warn_ratelimited("no coverage for %s[%d] (error %d): it gets the kernel's own user stacks\n",
				    current->comm, current->pid, error);
}

/* int get_callchain_buffers(max_stack); gives back the redirect's reference to the module. */
static int get(int max_stack)
{
	kuid_t uid = perfmon_capable() ? INVALID_UID : current_uid();
	int ret;

	atomic_inc(&nr_getting);
	warn_uncovered(cover(uid));
	ret = static_call(stock_get)(max_stack);
	(void)atomic_dec_return_release(&nr_getting);
	if (!is_wanted())
		mod_delayed_work(system_long_wq, &end, LINGER);
	module_put(THIS_MODULE);
	return ret;
}

/* void put_callchain_buffers(void); gives back the redirect's reference to the module. */
static void put(void)
{
	static_call(stock_put)();
	if (!is_wanted())
		mod_delayed_work(system_long_wq, &end, LINGER);
	module_put(THIS_MODULE);
}

static struct kunwind_redirect redirects[] = {
	{
		.from = "get_callchain_buffers",
		.to = get,
		.owner = THIS_MODULE,
		.sleeps = true,
	},
	{
		.from = "put_callchain_buffers",
		.to = put,
		.owner = THIS_MODULE,
		.sleeps = true,
	},
};

static int find_stock(void)
{
	unsigned long get = kunwind_function("get_callchain_buffers");
	unsigned long put = kunwind_function("put_callchain_buffers");
	unsigned long get_entry = kunwind_function("get_callchain_entry");
	unsigned long put_entry = kunwind_function("put_callchain_entry");

	if (!get || !put || !get_entry || !put_entry)
		return -ENOENT;
	static_call_update(stock_get, (typeof(get_callchain_buffers) *)get);
	static_call_update(stock_put, (typeof(put_callchain_buffers) *)put);
	static_call_update(stock_get_entry, (typeof(get_callchain_entry) *)get_entry);
	static_call_update(stock_put_entry, (typeof(put_callchain_entry) *)put_entry);
	return 0;
}

/*
 * The last step of loading the module, because tasks may sleep in get() and put() from here
 * on: no failure may follow.
 */
int demand_init(void)
{
	int ret;

	ret = find_stock();
	if (!ret)
		ret = kunwind_redirect_begin(redirects, ARRAY_SIZE(redirects));
	if (ret)
		return ret;
	/* The owner of an event that is older than the module is not known: cover all. */
	atomic_inc(&nr_getting);
	if (is_wanted())
		warn_uncovered(cover(INVALID_UID));
	(void)atomic_dec_return_release(&nr_getting);
	/* The last such event may have gone while it was being covered. */
	if (!is_wanted())
		mod_delayed_work(system_long_wq, &end, LINGER);
	return 0;
}

void demand_exit(void)
{
	kunwind_redirect_end(redirects, ARRAY_SIZE(redirects));
	/* For the last instructions of get() and put(), after module_put(). */
	synchronize_rcu_tasks();
	cancel_delayed_work_sync(&end);
	uncover(true);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whose processes the module must cover. A consumer that may see the whole system wants
 * all processes. A consumer without that privilege wants those of its own user. The user of
 * a process is its real one: perf lets that user trace the process.
 *
 * Hooks ask at each new mapping of an mm that is not covered, so asking takes no lock.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "wanted.h"

/*
 * A user whose processes are wanted. Made by kw_wish_alloc(), and on the list from
 * kw_wanted_add() on; found under rcu_read_lock(); freed after a grace period by the last
 * kw_wanted_del().
 */
struct kw_wish {
	struct hlist_node node;
	kuid_t uid;
	/* Under wishes_lock. */
	unsigned int consumers;
	struct rcu_head rcu;
};

static DEFINE_SPINLOCK(wishes_lock);
static HLIST_HEAD(wishes);
/* How many consumers want all processes; written under wishes_lock. */
static unsigned int everybody;

static struct kw_wish *find(kuid_t uid)
{
	struct kw_wish *wish;

	hlist_for_each_entry_rcu(wish, &wishes, node, lockdep_is_held(&wishes_lock))
		if (uid_eq(wish->uid, uid))
			return wish;
	return NULL;
}

/* Context: process context, sleeps. Return: for kw_wanted_add() or kfree(); NULL if no memory. */
struct kw_wish *kw_wish_alloc(kuid_t uid)
{
	struct kw_wish *wish = kzalloc(sizeof(*wish), GFP_KERNEL_ACCOUNT);

	if (wish)
		wish->uid = uid;
	return wish;
}

/* Want the processes of a user, or all. Takes over @fresh, which may not be needed. */
void kw_wanted_add(struct kw_wish *fresh)
{
	struct kw_wish *wish;

	spin_lock(&wishes_lock);
	wish = find(fresh->uid);
	if (!wish && uid_valid(fresh->uid)) {
		wish = fresh;
		hlist_add_head_rcu(&wish->node, &wishes);
	}
	if (wish)
		wish->consumers++;
	else
		WRITE_ONCE(everybody, everybody + 1);
	spin_unlock(&wishes_lock);
	if (wish != fresh)
		kfree(fresh);
}

void kw_wanted_del(kuid_t uid)
{
	struct kw_wish *wish;

	spin_lock(&wishes_lock);
	wish = find(uid);
	if (!wish) {
		WRITE_ONCE(everybody, everybody - 1);
	} else if (!--wish->consumers) {
		hlist_del_rcu(&wish->node);
		kfree_rcu(wish, rcu);
	}
	spin_unlock(&wishes_lock);
}

/* Whether a consumer wants the processes of @uid. Context: any but NMI. */
bool kw_is_wanted(kuid_t uid)
{
	bool wanted = READ_ONCE(everybody);

	if (wanted || likely(hlist_empty(&wishes)))
		return wanted;
	rcu_read_lock();
	wanted = find(uid);
	rcu_read_unlock();
	return wanted;
}

bool kw_is_any_wanted(void)
{
	return READ_ONCE(everybody) || !hlist_empty(&wishes);
}

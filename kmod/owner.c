// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Users, by their ID in the initial user namespace. A user namespace can have many IDs.
 * All of them share one limit: that of the user who made the namespace. If root made it,
 * it is a container with a limit of its own.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/mm_types.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>
#include "owner.h"
#include "stats.h"

/* Not inlined: the kernel log names the caller. */
noinline void *kw_alloc(size_t bytes, gfp_t gfp)
{
	bool large = bytes > PAGE_SIZE;
	void *mem;

	if (large)
		mem = kmalloc(bytes, gfp & ~(__GFP_DIRECT_RECLAIM | __GFP_RETRY_MAYFAIL)) ?:
		      /* Linux 6.19 warns of __GFP_RETRY_MAYFAIL here, once, and 7.0 does not. */
		      __vmalloc(bytes, gfp);
	else
		mem = kmalloc(bytes, gfp);
	/*
	 * vmalloc() fails for a process that is being killed (vm_area_alloc_pages() in
	 * mm/vmalloc.c). That is no lack of memory, so do not count it.
	 */
	if (!mem && !(large && fatal_signal_pending(current))) {
		kw_count(allocation_failures);
		pr_debug("no memory for %ps()\n", (void *)_RET_IP_);
	}
	return mem;
}

/* Users with running processes: some, or some hundreds. */
#define HASH_BITS	6

static DEFINE_SPINLOCK(owners_lock);
static struct hlist_head owners[1 << HASH_BITS];

/*
 * The user who is accountable for a task. A container manager runs as root and makes the
 * user namespaces of its containers, but the processes in them are not trusted. So such a
 * container counts as the user that its own root maps to, unless that is the real root.
 * Context: under rcu_read_lock().
 */
kuid_t kw_owner_uid(const struct task_struct *task)
{
	const struct cred *cred = __task_cred(task);
	struct user_namespace *ns = cred->user_ns, *outermost = NULL;
	kuid_t root;

	for (; ns != &init_user_ns; ns = ns->parent)
		outermost = ns;
	if (!outermost)
		return cred->uid;
	if (!uid_eq(outermost->owner, GLOBAL_ROOT_UID))
		return outermost->owner;
	root = make_kuid(outermost, 0);
	if (!uid_valid(root) || uid_eq(root, GLOBAL_ROOT_UID))
		return cred->uid;
	return root;
}

/* The user of the process that has @mm. When a tracer attaches, that is not current. */
static kuid_t uid_of_mm(const struct mm_struct *mm)
{
	const struct task_struct *task = current;
	kuid_t uid;

	rcu_read_lock();
#ifdef CONFIG_MEMCG
	if (mm != current->mm)
		task = rcu_dereference(mm->owner) ?: current;
#endif
	uid = kw_owner_uid(task);
	rcu_read_unlock();
	return uid;
}

/* Find the user, or add @fresh unless that is NULL. Return: a reference, @fresh's own if added. */
static struct kw_owner *find_or_add(kuid_t uid, struct kw_owner *fresh)
{
	struct hlist_head *head = &owners[hash_32(__kuid_val(uid), HASH_BITS)];
	struct kw_owner *owner;

	spin_lock(&owners_lock);
	hlist_for_each_entry(owner, head, node)
		if (uid_eq(owner->uid, uid)) {
			refcount_inc(&owner->refs);
			goto unlock;
		}
	owner = fresh;
	if (owner)
		hlist_add_head(&owner->node, head);
unlock:
	spin_unlock(&owners_lock);
	return owner;
}

struct kw_owner kw_everyone = {
	.uid = { (uid_t)-1 },
	.refs = REFCOUNT_INIT(1),
	.lru = LIST_HEAD_INIT(kw_everyone.lru),
};

/*
 * The user who pays for what is made for @mm: the real one, as the caller of a
 * set-user-ID program is accountable for it. Return: a reference; NULL if there is no
 * memory.
 */
static struct kw_owner *owner_of(struct mm_struct *mm)
{
	kuid_t uid = uid_of_mm(mm);
	struct kw_owner *owner = find_or_add(uid, NULL), *fresh;

	if (owner)
		return owner;
	fresh = kw_alloc(sizeof(*fresh), KW_GFP | __GFP_ZERO);
	if (!fresh)
		return NULL;
	fresh->uid = uid;
	refcount_set(&fresh->refs, 1);
	INIT_LIST_HEAD(&fresh->lru);
	owner = find_or_add(uid, fresh);
	if (owner != fresh)
		kfree(fresh);
	return owner;
}

void kw_owner_put(struct kw_owner *owner)
{
	if (!owner || !refcount_dec_and_lock(&owner->refs, &owners_lock))
		return;
	/* sparse does not see that this takes the lock. */
	__acquire(&owners_lock);
	hlist_del(&owner->node);
	spin_unlock(&owners_lock);
	kfree(owner);
}

/*
 * From here to kw_payer_end(), the process that has @mm pays for allocations. The caller
 * holds @mm, and calls kw_payer_end() even after an error.
 * Context: process context, sleeps. Return: 0, -ENOMEM.
 */
int kw_payer_begin(struct kw_payer *payer, struct mm_struct *mm)
{
	payer->memcg = get_mem_cgroup_from_mm(mm);
	payer->before = set_active_memcg(payer->memcg);
	payer->owner = owner_of(mm);
	return payer->owner ? 0 : -ENOMEM;
}

void kw_payer_end(struct kw_payer *payer)
{
	set_active_memcg(payer->before);
	mem_cgroup_put(payer->memcg);
	kw_owner_put(payer->owner);
}

/* Whether @memcg, which the caller holds, has processes. True if @memcg is NULL. */
bool kw_memcg_is_populated(const struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	return !memcg || cgroup_is_populated(memcg->css.cgroup);
#else
	return true;
#endif
}

/* Take another reference to @memcg, which the caller holds, or which is NULL. Return: @memcg. */
struct mem_cgroup *kw_memcg_hold(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	if (memcg)
		css_get(&memcg->css);
#endif
	return memcg;
}

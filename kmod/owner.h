/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The users on whose behalf tables are made, and their part of the budgets. */
#ifndef KW_OWNER_H
#define KW_OWNER_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>

struct mem_cgroup;
struct mm_struct;
struct task_struct;

/*
 * For allocations on behalf of a process, in process context: charged to its memory
 * cgroup. An allocation fails rather than make the OOM killer kill a process, of the
 * cgroup or of the system.
 */
#define KW_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * Memory for kvfree(); up to a page, for kfree(). Contiguous, in which a walk finds its way sooner,
 * if there is some at once: kvmalloc() would reclaim and compact memory for that, as
 * __GFP_RETRY_MAYFAIL asks for it. A failure is counted, and the kernel log names the caller.
 * Context: process context, sleeps. Return: NULL if there is no memory.
 */
void *kw_alloc(size_t bytes, gfp_t gfp);

/*
 * A user on whose behalf tables are made.
 *
 * Made by kw_payer_begin() for the user's first process that needs one, and found by
 * kw_payer_begin() through a hash. Tables hold references, and so does the task that
 * makes a table. Freed by the last kw_owner_put(). The hash's lock protects @node. An owner
 * in the hash has a reference: @refs becomes 0 only under that lock.
 */
struct kw_owner {
	struct hlist_node node;
	kuid_t uid;
	refcount_t refs;
	/* This user's part of the gauges of the same names. */
	atomic_long_t table_bytes;
	atomic_long_t build_bytes;
	/*
	 * The idle ones of the user's tables, the oldest first, and their bytes; under
	 * kw_cache_lock.
	 */
	struct list_head lru;
	size_t lru_bytes;
};

/* Owns what several users share. It has the limit of one more user. Never freed, in no hash. */
extern struct kw_owner kw_everyone;

kuid_t kw_owner_uid(const struct task_struct *task);
void kw_owner_put(struct kw_owner *owner);

/*
 * How much of a budget one user may have if all others use @others of it: half of what
 * the others leave. So unprivileged users always leave something to others, however many
 * of them work together: two leave a quarter. Root, and the kernel itself (NULL), may
 * have all.
 */
static inline size_t kw_owner_limit(const struct kw_owner *owner, size_t budget,
				    size_t others)
{
	if (!owner || uid_eq(owner->uid, GLOBAL_ROOT_UID))
		return budget;
	return (budget - min(budget, others)) / 2;
}

/*
 * The user and the memory cgroup that pay for what is made on behalf of an mm. From
 * kw_payer_begin() to kw_payer_end(), the task's allocations are charged to the cgroup.
 * On the stack of that task, with references to both.
 */
struct kw_payer {
	struct kw_owner *owner;
	struct mem_cgroup *memcg;
	struct mem_cgroup *before;
};

int kw_payer_begin(struct kw_payer *payer, struct mm_struct *mm);
void kw_payer_end(struct kw_payer *payer);
bool kw_memcg_is_populated(const struct mem_cgroup *memcg);
struct mem_cgroup *kw_memcg_hold(struct mem_cgroup *memcg);

#endif /* KW_OWNER_H */

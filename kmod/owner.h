/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who causes tables, and how much of the budgets one user may fill. */
#ifndef KW_OWNER_H
#define KW_OWNER_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/uidgid.h>

struct mem_cgroup;
struct mm_struct;
struct task_struct;

/*
 * For what is made on behalf of a process, in process context: charged to its memory
 * cgroup. It fails rather than have a cgroup's or the system's processes killed.
 */
#define KW_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * A user on whose behalf tables are made.
 *
 * Made by kw_owner_of() for the first process of his that needs one; found by
 * it through a hash. Tables hold references, and so does the task that makes one. Freed by
 * the last kw_owner_put(). @refs and @node are under the hash's lock.
 */
struct kw_owner {
	struct hlist_node node;
	kuid_t uid;
	unsigned int refs;
	/* Of the gauges of these names, his part. */
	atomic_long_t table_bytes;
	atomic_long_t build_bytes;
	/* Of @table_bytes, those of idle tables; under the cache's lock. */
	size_t lru_bytes;
};

kuid_t kw_owner_uid(const struct task_struct *task);
struct kw_owner *kw_owner_everyone(void);
struct kw_owner *kw_owner_hold(struct kw_owner *owner);
void kw_owner_put(struct kw_owner *owner);

/*
 * What of a budget one user may have, if all others use @others of it: half of what they
 * leave. So users without privilege, however many work together, always leave something
 * to others, and two of them a quarter. Root, and the kernel itself (NULL), have all.
 */
static inline size_t kw_owner_limit(const struct kw_owner *owner, size_t budget,
				    size_t others)
{
	if (!owner || uid_eq(owner->uid, GLOBAL_ROOT_UID))
		return budget;
	return (budget - min(budget, others)) / 2;
}

/*
 * Who pays for what is made on behalf of an mm: its user, and its memory cgroup, which
 * allocations are charged to from kw_payer_begin() to kw_payer_end() in the same task.
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

#endif /* KW_OWNER_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The address spaces that are covered: a hash from mm to snapshot. */
#ifndef KW_SPACE_H
#define KW_SPACE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include "retry.h"

struct kunwind_mapping;
struct kw_patience;
struct kw_pending;
struct kw_snapshot;
struct mm_struct;
struct vm_area_struct;

/*
 * One covered mm.
 *
 * Made by the hooks (atomic context) or by a consumer, for an mm that has users.
 * Read by walks and hooks under rcu_read_lock(), NMI included. The hash holds
 * one reference, and gives it up when the mm exits or when no consumer covers
 * it any more; pending work and open devices hold others. The last
 * kw_space_put() frees it after a grace period.
 */
struct kw_space {
	struct hlist_node node;
	/* The key. Not a reference: the exit_mmap() hook comes before its end. */
	const struct mm_struct *mm;
	/* Who it is in a trace; no other one ever is. */
	u64 number;
	/* The process that it was made for; a vfork() child's is its parent's. */
	pid_t pid;
	/* The last dump that told of it, or that it need not be in; see dump.c. */
	atomic64_t told;
	/* Replaced under @snap_lock; NULL until the first one is taken. */
	struct kw_snapshot __rcu *snap;
	/*
	 * Mapping events are numbered from 1 on: @wanted is the last one, @done the last
	 * one that the snapshot knows of (0: of all that was there before; -1: not even
	 * of that, as it leaves out what would have to be waited for), @stale the last
	 * one whose addresses could not be taken out of it for want of memory. Behind
	 * @wanted, a snapshot may lack something; behind @stale, it must not be used.
	 * All written under @snap_lock, @wanted and @stale under mmap_lock as well.
	 */
	atomic64_t wanted;
	atomic64_t stale;
	atomic64_t done;
	/* The task of the last event; 0: there was none. Under @snap_lock. */
	pid_t mapped_by;
	/* What was queued last, until it runs; under @snap_lock, see pending.c. */
	struct kw_pending *queued;
	raw_spinlock_t snap_lock;
	/* Serialises those who take a snapshot; outside of mmap_lock. See kw_space_lock(). */
	struct mutex lock;
	wait_queue_head_t unlocked;
	struct kw_retry retry;
	refcount_t refs;
	/* Consumers of this mm alone; under the hash's lock. */
	unsigned int consumers;
	struct rcu_head rcu;
};

/* How much of a space is covered. */
enum kw_coverage {
	KW_COVERED,	/* everything */
	KW_LAGGING,	/* what is in the snapshot is right, but more is mapped */
	KW_STALE,	/* no snapshot, or a wrong one */
};

struct kw_space *kw_space_find(const struct mm_struct *mm);
struct kw_space *kw_space_obtain(struct mm_struct *mm, pid_t pid, gfp_t gfp);
void kw_space_put(struct kw_space *space);
enum kw_coverage kw_space_coverage(const struct kw_space *space);
bool kw_space_is_busy(const struct kw_space *space);
int kw_space_catch_up(struct kw_space *space, struct mm_struct *mm, s64 event,
		      bool may_hang);
void kw_space_retry(struct kw_space *space, struct mm_struct *mm);
int kw_space_lock(struct kw_space *space, unsigned long deadline);
void kw_space_unlock(struct kw_space *space);
int kw_space_cover(struct mm_struct *mm, pid_t pid, unsigned long lock_deadline,
		   const struct kw_patience *patience);
s64 kw_space_event(struct kw_space *space, const struct vm_area_struct *vma,
		   u64 start, u64 end, bool moved);
bool kw_space_inherit(struct kw_space *child, const struct kw_space *parent);
void kw_space_exit(const struct mm_struct *mm);
struct kw_snapshot *kw_space_snapshot(struct kw_space *space);
void kw_space_describe(const struct kw_space *space,
		       const struct kw_snapshot *snap, u32 i,
		       struct kunwind_mapping *m);

s64 kw_spaces_dump(void);
struct kw_space **kw_spaces_untold(s64 dump, int *count);
void kw_spaces_init(void);
bool kw_spaces_system(void);
void kw_spaces_set_system(bool on);
struct kw_space *kw_space_hold(struct mm_struct *mm);
void kw_space_unhold(struct kw_space *space);

#endif /* KW_SPACE_H */

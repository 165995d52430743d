/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a covered address space follows its mappings: its state, and what changes it. */
#ifndef KW_COVERAGE_H
#define KW_COVERAGE_H

#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include "snapshot.h"
#include "space.h"

struct mm_struct;
struct vm_area_struct;

/*
 * Where a task that takes a snapshot looks for tables that it can keep: in the snapshot
 * that was published when it started, and in its own of an earlier attempt that failed.
 * Either may be NULL. Each may have a file that the other one leaves out.
 */
struct kw_bases {
	struct kw_snapshot *published;
	struct kw_snapshot *own;
};

/* The published snapshot, or NULL; the caller has @space->lock. */
static inline struct kw_snapshot *kw_space_published(struct kw_space *space)
{
	return rcu_dereference_protected(space->snap,
					 lockdep_is_held(&space->lock));
}

/* Return: how far walks can use @snap, which is the space's, or NULL. Context: any. */
static inline enum kw_state kw_state_of(const struct kw_space *space,
					const struct kw_snapshot *snap)
{
	/* Pairs with number(): if an event shows, so does that it was wrong. */
	s64 events = smp_load_acquire(&space->events);
	s64 wrong = READ_ONCE(space->wrong);

	if (!snap)
		return KW_EMPTY;
	if (wrong > snap->version)
		return KW_WRONG;
	return events > snap->version ? KW_BEHIND : KW_CURRENT;
}

/* Whether a walk should make its task catch up. Context: any, NMI included. */
static inline bool kw_space_is_due(const struct kw_space *space)
{
	unsigned long at = READ_ONCE(space->retry_at);

	return unlikely(at) && time_after_eq(jiffies, at);
}

enum kw_state kw_space_state(const struct kw_space *space);
bool kw_space_cares(const struct kw_space *space, u64 start, u64 end);
bool kw_space_changed(const struct kw_space *space, s64 version, u64 start, u64 end);
int kw_space_replaced(const struct kw_space *space, const struct kw_snapshot *snap,
		      struct kw_range ranges[KW_LOG]);
void kw_space_event(struct kw_space *space, const struct vm_area_struct *vma,
		    u64 start, u64 end, bool moved);
bool kw_space_inherit(struct kw_space *child, struct kw_space *parent, bool alone);
void kw_space_failed(struct kw_space *space);
void kw_space_leave(struct kw_space *space);
int kw_space_catch_up(struct kw_space *space, struct mm_struct *mm,
		      const struct kw_range *mapped);
int kw_space_refresh(struct kw_space *space, struct mm_struct *mm);
int kw_space_cover(struct mm_struct *mm, pid_t pid, kuid_t uid, unsigned long deadline,
		   bool returns);

/* announce.c */
void kw_announce_maps(struct kw_space *space, const struct kw_snapshot *old,
		      const struct kw_snapshot *snap);
void kw_announce_unmaps(const struct kw_space *space, const struct kw_snapshot *old,
			const struct kw_snapshot *snap);

#endif /* KW_COVERAGE_H */

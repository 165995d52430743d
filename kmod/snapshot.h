/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The address map of an mm at one moment, with the tables that it needs. */
#ifndef KW_SNAPSHOT_H
#define KW_SNAPSHOT_H

#include <linux/refcount.h>
#include <linux/workqueue.h>
#include "map.h"
#include "origin.h"

struct mm_struct;
struct vm_area_struct;

/*
 * Made by kw_snapshot_take(), in process context, or from another one by
 * kw_snapshot_cut(), in a hook; immutable from then on. Read
 * by walks and hooks under rcu_read_lock() through space->map. Every space that
 * publishes it holds a reference: a fork takes one more. The last
 * kw_snapshot_put(), from any context but NMI, has it freed after a grace
 * period by the module's workqueue, which puts tables and names.
 */
struct kw_snapshot {
	refcount_t refs;
	struct rcu_work rwork;
	/* What it was cut from, which has the origins' references; or NULL. */
	struct kw_snapshot *base;
	/* Of this and all that it was cut from, but the first. */
	size_t cut_bytes;
	/* One per mapping; behind @map. */
	struct kw_origin *origins;
	/* While it is made: of all names. */
	u32 name_bytes;
	/*
	 * Something was left out: for want of memory; because it may keep its reader
	 * waiting; as the deadline had come.
	 */
	bool starved;
	bool skipped;
	bool late;
	struct kuw_map map;
};

/*
 * How patient somebody is who takes a snapshot.
 * @own: of his own process
 * @may_hang: reads files that may keep their reader waiting for ever
 * @keeps: of others that is what the snapshot before has, as no event has come since
 * @deadline: in jiffies: compiles no more tables then, and waits for nothing
 */
struct kw_patience {
	bool own;
	bool may_hang;
	bool keeps;
	unsigned long deadline;
};

struct kw_snapshot *kw_snapshot_take(struct mm_struct *mm,
				     const struct kw_snapshot *old,
				     const struct kw_patience *patience);
struct kw_snapshot *kw_snapshot_alloc(u32 count);
struct kw_snapshot *kw_snapshot_cut(struct kw_snapshot *snap, u64 start, u64 end);
void kw_snapshot_put(struct kw_snapshot *snap);
u32 kw_snapshot_behind(const struct kw_snapshot *snap, u64 addr);
bool kw_snapshot_overlaps(const struct kw_snapshot *snap, u64 start, u64 end);
bool kw_snapshot_agrees(const struct kw_snapshot *snap,
			const struct vm_area_struct *vma);
void kw_snapshots_flush(void);
int kw_snapshots_init(void);
void kw_snapshots_exit(void);

#endif /* KW_SNAPSHOT_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The address map of an mm at one moment, with the tables that it needs. */
#ifndef KW_SNAPSHOT_H
#define KW_SNAPSHOT_H

#include <linux/refcount.h>
#include <linux/workqueue.h>
#include "map.h"
#include "origin.h"
#include "space.h"

struct kw_bases;
struct mm_struct;
struct vm_area_struct;

/*
 * Made by kw_snapshot_take(), in process context; immutable from then on. Read
 * by walks and hooks under rcu_read_lock() through space->snap. Every space that
 * publishes it holds a reference: a fork takes one more. The last
 * kw_snapshot_put(), from any context but NMI, has it freed after a grace
 * period by the module's workqueue, which puts tables and names.
 */
struct kw_snapshot {
	refcount_t refs;
	struct rcu_work rwork;
	/* One per mapping, in memory after @map. */
	struct kw_origin *origins;
	/* While it is made: of all names. */
	u32 name_bytes;
	/* Another attempt may find more: memory, time, or a file server's answer was missing. */
	bool lacking;
	struct kuw_map map;
};

/*
 * Who takes a snapshot, and how patient.
 * @own: a task of the process
 * @mapped: what that task has mapped itself: only there it reads files that may keep
 *	their reader waiting for ever
 * @deadline: in jiffies: it compiles no more tables then
 */
struct kw_taker {
	bool own;
	struct kw_range mapped;
	unsigned long deadline;
};

struct kw_snapshot *kw_snapshot_take(const struct kw_space *space,
				     struct mm_struct *mm,
				     const struct kw_bases *bases,
				     const struct kw_taker *taker, s64 *version);
struct kw_snapshot *kw_snapshot_alloc(u32 count);
void kw_snapshot_put(struct kw_snapshot *snap);
u32 kw_snapshot_behind(const struct kw_snapshot *snap, u64 addr);
bool kw_snapshot_overlaps(const struct kw_snapshot *snap, u64 start, u64 end);
bool kw_snapshot_agrees(const struct kw_snapshot *snap,
			const struct vm_area_struct *vma);
int kw_snapshots_init(void);
void kw_snapshots_exit(void);

#endif /* KW_SNAPSHOT_H */

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
 * Made by kw_snapshot_take(), in process context; immutable from then on. Walks with
 * preemption off, and hooks under rcu_read_lock(), read it through space->snap. Every space
 * that publishes it holds a reference: a fork takes one more. After the last
 * kw_snapshot_put(), in any context but NMI, and a grace period, the module's workqueue puts
 * its tables and names, and frees it.
 */
struct kw_snapshot {
	refcount_t refs;
	struct rcu_work rwork;
	/* One per mapping, in the same allocation, after @map. */
	struct kw_origin *origins;
	/* Bytes of all names, counted while the snapshot is made. */
	u32 name_bytes;
	/* Memory, time or a file server's answer was missing: another attempt may find more. */
	bool lacking;
	struct kuw_map map;
};

/*
 * Which task takes a snapshot, and what it waits for. On that task's stack.
 * @own: the task is one of the process
 * @users: the users of the mm: given up once its mappings are listed, as tables take long to
 *	compile, and the process may exit meanwhile; NULL if the caller keeps them
 * @mapped: what the task has mapped itself. Only there it reads files that may block the
 *	reader for ever
 * @deadline: when to start no more compilations and to give up a running one, in jiffies. Tables
 *	are looked up for KW_ATTACH_GRACE more
 */
struct kw_taker {
	bool own;
	struct mm_struct *users;
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

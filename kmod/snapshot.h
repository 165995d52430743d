/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The address map of an mm at one moment, with the tables that it needs. */
#ifndef KW_SNAPSHOT_H
#define KW_SNAPSHOT_H

#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include "map.h"
#include "space.h"

struct file;
struct kunwind_mapping;
struct kw_bases;
struct kw_table;
struct mm_struct;
struct vm_area_struct;

/*
 * A path, or a name in brackets such as "[vdso]". Made in process context by the task
 * that takes the snapshot. Immutable. Later snapshots that have the mapping share it. Each
 * mapping of each has a reference, so 32 bits would not suffice. Freed by the last
 * kw_name_put().
 */
struct kw_name {
	atomic_long_t refs;
	u32 bytes;
	char text[];
};

/*
 * Where the code of a mapping comes from, for readers of traces. Part of a snapshot, which holds
 * the references and is immutable.
 */
struct kw_origin {
	/* NULL if the mapping has no file and is not the vDSO, or if no table could be made. */
	struct kw_table *table;
	/* NULL if there was no memory for it, it is too long, or the space has too many. */
	struct kw_name *name;
	u64 off;
	u64 inode;
	dev_t dev;
};

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
	/* The last mapping event that it knows of. A child that shares it counts on from there. */
	s64 version;
	/* Memory, time or a file server's answer was missing: another attempt may find more. */
	bool lacking;
	struct kuw_map map;
};

/*
 * Which task takes a snapshot, and what it waits for. On that task's stack.
 * @own: the task is one of the process
 * @returns: the task tries again, with the process or for requests, when the time of the next
 *	attempt comes. An attaching tracer does not: it leaves what is missing to the process
 * @mapped: what the task has mapped itself. Only there it reads files that may block the
 *	reader for ever
 * @deadline: when to start no more compilations and to give up a running one, in jiffies. Tables
 *	are looked up for KW_ATTACH_GRACE more
 */
struct kw_taker {
	bool own;
	bool returns;
	struct kw_range mapped;
	unsigned long deadline;
};

struct kw_snapshot *kw_snapshot_take(const struct kw_space *space,
				     struct mm_struct *mm,
				     const struct kw_bases *bases,
				     const struct kw_taker *taker);
struct kw_snapshot *kw_snapshot_alloc(u32 count);
void kw_snapshot_put(struct kw_snapshot *snap);
bool kw_snapshot_overlaps(const struct kw_snapshot *snap, u64 start, u64 end);
bool kw_snapshot_agrees(const struct kw_snapshot *snap,
			const struct vm_area_struct *vma);
void kw_space_describe(const struct kw_space *space, const struct kw_snapshot *snap, u32 i,
		       struct kunwind_mapping *m);
struct kw_name *kw_name_make(const char *text);
struct kw_name *kw_name_of_file(const struct file *file);
void kw_name_put(struct kw_name *name);
bool kw_origin_equal(const struct kw_origin *a, const struct kw_origin *b);
int kw_snapshots_init(void);
void kw_snapshots_exit(void);

#endif /* KW_SNAPSHOT_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The life of a snapshot, and what it can be asked; take.c makes them from VMAs. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include "cache.h"
#include "owner.h"
#include "snapshot.h"
#include "stats.h"
#include "table.h"

/*
 * Bytes of snapshots that are cut from one another until a new one is taken: they
 * all stay until then, and one mprotect() can replace 65,530 mappings. A process
 * with 30 mappings has 3,000 in each, one with 1,000 has 90,000.
 */
#define MAX_CUT_BYTES	SZ_1M

static struct workqueue_struct *wq;

/* Every snapshot has a number of its own: 64 bits do not come round. */
static atomic64_t last_number = ATOMIC64_INIT(0);

static size_t snapshot_size(u32 count)
{
	return size_add(struct_size_t(struct kw_snapshot, map.mappings, count),
			array_size(count, sizeof(struct kw_origin)));
}

static struct kw_snapshot *snapshot_init(struct kw_snapshot *snap, u32 count)
{
	if (!snap)
		return NULL;
	memset(snap, 0, sizeof(*snap));
	refcount_set(&snap->refs, 1);
	snap->map.number = atomic64_inc_return(&last_number);
	snap->origins = (void *)&snap->map.mappings[count];
	kw_gauge_add(maps, 1);
	return snap;
}

static void snapshot_free(struct kw_snapshot *snap)
{
	while (!snap->base && snap->map.count) {
		const struct kw_origin *o = &snap->origins[--snap->map.count];

		kw_table_put(o->table);
		kw_name_put(o->name);
	}
	kw_snapshot_put(snap->base);
	kw_gauge_sub(maps, 1);
	kvfree(snap);
}

static void free_work(struct work_struct *work)
{
	snapshot_free(container_of(to_rcu_work(work), struct kw_snapshot, rwork));
}

/**
 * kw_snapshot_alloc() - a snapshot that says nothing yet
 * @count: how many mappings it has room for
 *
 * Context: process context, sleeps.
 * Return: with a reference; NULL for want of memory.
 */
struct kw_snapshot *kw_snapshot_alloc(u32 count)
{
	struct kw_snapshot *snap;

	snap = snapshot_init(kvmalloc(snapshot_size(count), KW_GFP), count);
	if (!snap)
		kw_count_failed_kvmalloc();
	return snap;
}

/* Return: the index of the first mapping that ends behind @addr. */
u32 kw_snapshot_behind(const struct kw_snapshot *snap, u64 addr)
{
	u32 low = 0, high = snap->map.count;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (snap->map.mappings[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void add_part(struct kw_snapshot *cut, const struct kw_snapshot *snap,
		     u32 i, u64 start, u64 end)
{
	struct kuw_mapping *m = &cut->map.mappings[cut->map.count];

	if (start >= end)
		return;
	*m = snap->map.mappings[i];
	m->start = start;
	m->end = end;
	cut->origins[cut->map.count] = snap->origins[i];
	cut->origins[cut->map.count++].off += start -
					      snap->map.mappings[i].start;
}

/**
 * kw_snapshot_cut() - a snapshot without some addresses
 * @snap: a snapshot
 * @start: the first address that it is to say nothing about
 * @end: the first address behind them
 *
 * Context: under rcu_read_lock(); preemption may be off.
 * Return: a snapshot that holds a reference to what @snap was cut from, or to
 *	@snap; or NULL.
 */
struct kw_snapshot *kw_snapshot_cut(struct kw_snapshot *snap, u64 start, u64 end)
{
	/* A mapping with a hole in it becomes two. */
	u32 count = snap->map.count + 1, i;
	size_t bytes = size_add(snap->cut_bytes, snapshot_size(count));
	struct kw_snapshot *cut, *base;

	if (bytes > MAX_CUT_BYTES)
		return NULL;
	cut = snapshot_init(kmalloc(snapshot_size(count),
				    GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN),
			    count);
	if (!cut) {
		kw_count_failed_allocation();
		return NULL;
	}
	cut->cut_bytes = bytes;
	/*
	 * Of cuts of cuts, all have the same base: in a chain, each would be freed a
	 * grace period after the one before, and there may be thousands. @snap holds
	 * its base until it is freed itself.
	 */
	base = snap->base ?: snap;
	/* Somebody has just published another one, and this one is on its way out. */
	if (!refcount_inc_not_zero(&base->refs)) {
		kw_snapshot_put(cut);
		return NULL;
	}
	cut->base = base;
	cut->map.incomplete = snap->map.incomplete;
	cut->starved = snap->starved;
	cut->skipped = snap->skipped;
	cut->late = snap->late;
	for (i = 0; i < snap->map.count; i++) {
		const struct kuw_mapping *m = &snap->map.mappings[i];

		add_part(cut, snap, i, m->start, min(m->end, start));
		add_part(cut, snap, i, max(m->start, end), m->end);
	}
	return cut;
}

void kw_snapshot_put(struct kw_snapshot *snap)
{
	if (!snap || !refcount_dec_and_test(&snap->refs))
		return;
	INIT_RCU_WORK(&snap->rwork, free_work);
	queue_rcu_work(wq, &snap->rwork);
}

/* Whether the map says anything about [@start, @end). */
bool kw_snapshot_overlaps(const struct kw_snapshot *snap, u64 start, u64 end)
{
	u32 i = kw_snapshot_behind(snap, start);

	return i < snap->map.count && snap->map.mappings[i].start < end;
}

/* Whether all that the map says about the addresses of @vma is right for it. */
bool kw_snapshot_agrees(const struct kw_snapshot *snap,
			const struct vm_area_struct *vma)
{
	u32 i = kw_snapshot_behind(snap, vma->vm_start);
	u64 bias;

	for (; i < snap->map.count; i++) {
		const struct kuw_mapping *m = &snap->map.mappings[i];
		const struct kw_table *t = snap->origins[i].table;

		if (m->start >= vma->vm_end)
			break;
		if (m->kind != KUW_MAPPING_TABLE || !vma->vm_file ||
		    !kw_identity_is_inode(&t->id, file_inode(vma->vm_file)) ||
		    !kuw_table_bias(m->table, vma->vm_start,
				    vma->vm_end - vma->vm_start,
				    (u64)vma->vm_pgoff << PAGE_SHIFT, &bias) ||
		    bias != m->bias)
			return false;
	}
	return true;
}

/*
 * Wait until everything that was put is freed. What was cut puts its base when it is
 * freed itself: one more round.
 */
void kw_snapshots_flush(void)
{
	long before;

	do {
		before = kw_gauge(maps);
		rcu_barrier();
		flush_workqueue(wq);
	} while (kw_gauge(maps) && kw_gauge(maps) != before);
}

int __init kw_snapshots_init(void)
{
	wq = alloc_workqueue("kunwind", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return wq ? 0 : -ENOMEM;
}

void kw_snapshots_exit(void)
{
	kw_snapshots_flush();
	WARN_ON(kw_gauge(maps));
	destroy_workqueue(wq);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The lifetime of snapshots, and look-ups in them; take.c makes snapshots from VMAs. */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "cache.h"
#include "owner.h"
#include "snapshot.h"
#include "stats.h"
#include "table.h"

/*
 * How many mappings of a snapshot a hook compares with a new one, as it runs with
 * preemption off. Seen: 3.
 */
#define MAX_COMPARED	16

static struct workqueue_struct *wq;

/* Every snapshot has a number of its own: 64 bits do not wrap. */
static atomic64_t last_number = ATOMIC64_INIT(0);

static void free_snapshot(struct work_struct *work)
{
	struct kw_snapshot *snap = container_of(to_rcu_work(work), struct kw_snapshot, rwork);

	while (snap->map.count) {
		const struct kw_origin *o = &snap->origins[--snap->map.count];

		kw_table_put(o->table);
		kw_name_put(o->name);
		cond_resched();
	}
	kw_gauge_sub(maps, 1);
	kvfree(snap);
}

/*
 * Make an empty snapshot, with room for @count mappings.
 * Context: process context, sleeps. Return: a reference; NULL if there is no memory.
 */
struct kw_snapshot *kw_snapshot_alloc(u32 count)
{
	struct kw_snapshot *snap;
	size_t bytes = size_add(struct_size(snap, map.mappings, count),
				array_size(count, sizeof(*snap->origins)));

	snap = kw_alloc(bytes, KW_GFP | __GFP_ZERO);
	if (!snap)
		return NULL;
	refcount_set(&snap->refs, 1);
	snap->map.number = atomic64_inc_return(&last_number);
	snap->origins = (void *)&snap->map.mappings[count];
	kw_gauge_add(maps, 1);
	return snap;
}

/* Return: the index of the first mapping that ends after @addr. */
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

void kw_snapshot_put(struct kw_snapshot *snap)
{
	if (!snap || !refcount_dec_and_test(&snap->refs))
		return;
	INIT_RCU_WORK(&snap->rwork, free_snapshot);
	queue_rcu_work(wq, &snap->rwork);
}

/* Whether the snapshot has a mapping in [@start, @end). */
bool kw_snapshot_overlaps(const struct kw_snapshot *snap, u64 start, u64 end)
{
	u32 i = kw_snapshot_behind(snap, start);

	return i < snap->map.count && snap->map.mappings[i].start < end;
}

/* Whether mapping @i is right for those of its addresses that @vma has. */
static bool agrees(const struct kw_snapshot *snap, u32 i,
		   const struct vm_area_struct *vma)
{
	const struct kuw_mapping *m = &snap->map.mappings[i];
	struct kw_identity now;
	u64 bias;

	return m->kind == KUW_MAPPING_TABLE && vma->vm_file &&
	       kw_identity_of(vma->vm_file, &now) &&
	       !memcmp(&now, &snap->origins[i].table->id, sizeof(now)) &&
	       kuw_table_bias(m->table, vma->vm_start, vma->vm_end - vma->vm_start,
			      (u64)vma->vm_pgoff << PAGE_SHIFT, &bias) &&
	       bias == m->bias;
}

/*
 * Whether all that the snapshot says about the addresses of @vma is right for it: it maps
 * the same bytes of the same file, and they cannot have changed. A file that is open for
 * writing, or a file server's, may have changed unnoticed.
 */
bool kw_snapshot_agrees(const struct kw_snapshot *snap,
			const struct vm_area_struct *vma)
{
	u32 i = kw_snapshot_behind(snap, vma->vm_start), compared = 0;

	for (; i < snap->map.count && snap->map.mappings[i].start < vma->vm_end; i++)
		if (compared++ == MAX_COMPARED || !agrees(snap, i, vma))
			return false;
	return true;
}

int __init kw_snapshots_init(void)
{
	wq = alloc_workqueue("kunwind", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return wq ? 0 : -ENOMEM;
}

/* The module is being unloaded: no task publishes a snapshot any more. */
void kw_snapshots_exit(void)
{
	/* The last snapshots reach the workqueue after a grace period. */
	rcu_barrier();
	destroy_workqueue(wq);
	WARN_ON(kw_gauge(maps));
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The lifetime of snapshots, look-ups in them, and what a trace says of their mappings; take.c
 * makes snapshots from VMAs.
 */
#include <linux/dcache.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kunwind/kunwind.h>
#include "cache.h"
#include "compat/fs.h"
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
	u32 i = kuw_map_behind(&snap->map, start);

	return i < snap->map.count && snap->map.mappings[i].start < end;
}

/* Whether mapping @i is right for those of its addresses that @vma has. */
static bool agrees(const struct kw_snapshot *snap, u32 i,
		   const struct vm_area_struct *vma)
{
	const struct kuw_mapping *m = &snap->map.mappings[i];
	const struct kw_table *t = snap->origins[i].table;
	struct kw_identity now;
	u64 bias;

	return m->kind == KUW_MAPPING_TABLE && vma->vm_file &&
	       !t->doubtful && kw_identity_of(vma->vm_file, &now) &&
	       !memcmp(&now, &t->id, sizeof(now)) &&
	       kuw_table_bias(m->table, vma->vm_start, vma->vm_end - vma->vm_start,
			      (u64)vma->vm_pgoff << PAGE_SHIFT, &bias) &&
	       bias == m->bias;
}

/*
 * Whether all that the snapshot says about the addresses of @vma is right for it: it maps
 * the same bytes of the same file, and they cannot have changed. A file that is open for
 * writing, or was when its table was made, or a file server's, may have changed unnoticed.
 */
bool kw_snapshot_agrees(const struct kw_snapshot *snap,
			const struct vm_area_struct *vma)
{
	u32 i = kuw_map_behind(&snap->map, vma->vm_start), compared = 0;

	for (; i < snap->map.count && snap->map.mappings[i].start < vma->vm_end; i++)
		if (compared++ == MAX_COMPARED || !agrees(snap, i, vma))
			return false;
	return true;
}

/* Return: a reference; NULL if there is no memory. */
struct kw_name *kw_name_make(const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct kw_name *name;

	name = kw_alloc(struct_size(name, text, bytes), KW_GFP);
	if (!name)
		return NULL;
	atomic_long_set(&name->refs, 1);
	name->bytes = bytes;
	memcpy(name->text, text, bytes);
	return name;
}

/*
 * The path as the current task sees it in /proc/PID/maps: below its own root, and on an
 * overlay by the overlay's name.
 * Return: a reference; NULL if there is no memory or the path is too long.
 */
struct kw_name *kw_name_of_file(const struct file *file)
{
	struct kw_name *name = NULL;
	char *page, *path;

	page = kw_alloc(PATH_MAX, KW_GFP);
	if (!page)
		return NULL;
	path = d_path(file_user_path(file), page, PATH_MAX);
	if (!IS_ERR(path))
		name = kw_name_make(path);
	kvfree(page);
	return name;
}

void kw_name_put(struct kw_name *name)
{
	if (name && atomic_long_dec_and_test(&name->refs))
		kvfree(name);
}

static const char *text(const struct kw_origin *origin)
{
	return origin->name ? origin->name->text : "";
}

/* Whether a trace describes both in the same way, except for the offset. */
bool kw_origin_equal(const struct kw_origin *a, const struct kw_origin *b)
{
	const struct kw_table *s = a->table, *t = b->table;

	if (a->dev != b->dev || a->inode != b->inode)
		return false;
	if (s != t && (!s || !t || s->build_id_len != t->build_id_len ||
		       memcmp(s->build_id, t->build_id, s->build_id_len)))
		return false;
	return a->name == b->name || !strcmp(text(a), text(b));
}

/* Describe mapping @i for a trace. @m is valid as long as the caller has the snapshot. */
void kw_space_describe(const struct kw_space *space, const struct kw_snapshot *snap, u32 i,
		       struct kunwind_mapping *m)
{
	const struct kw_origin *origin = &snap->origins[i];

	*m = (struct kunwind_mapping){
		.space = space->number,
		.pid = space->pid,
		.start = snap->map.mappings[i].start,
		.end = snap->map.mappings[i].end,
		.offset = origin->off,
		.inode = origin->inode,
		.dev = origin->dev,
		.path = text(origin),
		.build_id = origin->table ? origin->table->build_id : NULL,
		.build_id_len = origin->table ? origin->table->build_id_len : 0,
	};
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

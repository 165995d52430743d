// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * From the VMAs of an mm to a snapshot, in two steps: the VMAs are listed under
 * mmap_lock, with references to their files; the tables are looked up, or
 * built, without it. Building under mmap_lock would stop the whole process, and
 * reading a file under it can deadlock.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include "cache.h"
#include "listing.h"
#include "owner.h"
#include "snapshot.h"
#include "stats.h"
#include "table.h"

/*
 * Bytes of all names of one snapshot; a process seen with 300 mappings has 30,000.
 * The mappings behind have none: 65,536 of PATH_MAX bytes each would be 256 MiB.
 */
#define MAX_NAME_BYTES	SZ_1M

static struct kw_table *table_of(const struct kw_found *f, struct kw_owner *owner,
				 unsigned long deadline)
{
	if (f->vdso)
		return kw_table_get_vdso(f->vdso);
	return f->file ? kw_table_get(f->file, owner, deadline) : NULL;
}

/*
 * The name that @old has for the mapping, if it is of the same file still: making
 * a name costs as much as finding a table.
 */
static struct kw_name *old_name(const struct kw_found *f, const struct kw_snapshot *old)
{
	const struct kw_table *t;
	u32 i;

	if (!old || !f->file)
		return NULL;
	i = kw_snapshot_behind(old, f->start);
	if (i == old->map.count || old->map.mappings[i].start > f->start)
		return NULL;
	t = old->origins[i].table;
	if (!t || !kw_identity_is_inode(&t->id, file_inode(f->file)))
		return NULL;
	if (old->origins[i].name)
		refcount_inc(&old->origins[i].name->refs);
	return old->origins[i].name;
}

/* Return: a reference; NULL for want of memory. */
static struct kw_name *make_name(const struct kw_found *f, const struct kw_snapshot *old)
{
	struct kw_name *name = old_name(f, old);

	if (name)
		return name;
	if (f->file)
		return kw_name_of_file(f->file);
	return kw_name_make(f->vdso ? "[vdso]" : "[uprobes]");
}

/* Takes over the references of @origin. */
static void add_origin(struct kw_snapshot *snap, const struct kw_found *f,
		       const struct kw_origin *origin)
{
	struct kuw_mapping *m = &snap->map.mappings[snap->map.count];
	const struct kw_table *t = origin->table;

	*m = (struct kuw_mapping) {
		.start = f->start,
		.end = f->end,
		.kind = f->uretprobe ? KUW_MAPPING_URETPROBE : KUW_MAPPING_NO_TABLE,
	};
	if (t && t->table && kuw_table_bias(t->table, f->start, f->end - f->start,
					    f->off, &m->bias)) {
		m->table = t->table;
		m->kind = KUW_MAPPING_TABLE;
	}
	if (origin->name)
		snap->name_bytes += origin->name->bytes;
	snap->origins[snap->map.count++] = *origin;
}

static bool has_room_for_name(const struct kw_snapshot *snap)
{
	return snap->name_bytes < MAX_NAME_BYTES;
}

static void add_known(struct kw_snapshot *snap, struct kw_found *f)
{
	struct kw_origin origin = *f->known;

	if (origin.name && has_room_for_name(snap))
		refcount_inc(&origin.name->refs);
	else
		origin.name = NULL;
	f->known = NULL;
	add_origin(snap, f, &origin);
}

/*
 * A mapping whose table could not be made for want of memory, or of time, is left
 * out, so that walks say why they stop there. Any other failure costs it its table.
 * A file that somebody writes is read by its own process only: others go on without it.
 * Return: 0, or -EINTR.
 */
static int add_mapping(struct kw_snapshot *snap, struct kw_found *f,
		       const struct kw_snapshot *old, struct kw_owner *owner,
		       const struct kw_patience *patience)
{
	struct kw_origin origin = { .off = f->off };
	struct kw_table *t;

	if (f->known) {
		add_known(snap, f);
		return 0;
	}
	if (f->skipped) {
		snap->skipped = true;
		return 0;
	}
	if (!patience->own && f->file && kw_identity_may_block(f->file))
		t = ERR_PTR(-ETIME);
	else
		t = table_of(f, owner, patience->deadline);
	if (t == ERR_PTR(-EINTR))
		return -EINTR;
	if (t == ERR_PTR(-ETIME)) {
		kw_count(mappings_left);
		snap->late = true;
		return 0;
	}
	if (t == ERR_PTR(-ENOMEM) || t == ERR_PTR(-EAGAIN)) {
		snap->starved = true;
		return 0;
	}
	origin.table = IS_ERR(t) ? NULL : t;
	if (f->file) {
		origin.inode = file_user_inode(f->file)->i_ino;
		origin.dev = file_user_inode(f->file)->i_sb->s_dev;
	}
	if (has_room_for_name(snap))
		origin.name = make_name(f, old);
	add_origin(snap, f, &origin);
	return 0;
}

static struct kw_snapshot *take(struct mm_struct *mm,
				const struct kw_snapshot *old,
				struct kw_owner *owner,
				const struct kw_patience *patience)
{
	struct kw_snapshot *snap;
	struct kw_listing l;
	u32 i;
	int ret;

	ret = kw_list_mm(mm, old, patience, &l);
	if (ret)
		return ERR_PTR(ret);
	snap = kw_snapshot_alloc(l.count);
	if (!snap) {
		ret = -ENOMEM;
		goto clear;
	}
	for (i = 0; i < l.count; i++) {
		ret = add_mapping(snap, &l.found[i], old, owner, patience);
		if (ret)
			goto put;
		cond_resched();
	}
	snap->map.incomplete = l.overflow || snap->starved || snap->skipped ||
			       snap->late;
	kw_listing_clear(&l);
	return snap;

put:
	kw_snapshot_put(snap);
clear:
	kw_listing_clear(&l);
	return ERR_PTR(ret);
}

/**
 * kw_snapshot_take() - the executable mappings of an mm as they are now
 * @mm: an mm whose users the caller holds
 * @old: an earlier one of the same mm, for what has not changed; or NULL
 * @patience: the caller's
 *
 * What it allocates is charged to the cgroup and the user of @mm's process, also
 * when another one takes the snapshot.
 *
 * Context: process context, sleeps, builds tables; no lock of memory management
 *	may be held.
 * Return: the snapshot, or ERR_PTR(): -EINTR after a fatal signal, -ENOMEM, -ETIME.
 */
struct kw_snapshot *kw_snapshot_take(struct mm_struct *mm,
				     const struct kw_snapshot *old,
				     const struct kw_patience *patience)
{
	struct mem_cgroup *before;
	struct kw_snapshot *snap;
	struct kw_owner *owner;

	might_sleep();
	before = kw_charge_begin(mm);
	owner = kw_owner_of(mm);
	snap = owner ? take(mm, old, owner, patience) : ERR_PTR(-ENOMEM);
	kw_owner_put(owner);
	kw_charge_end(before);
	return snap;
}

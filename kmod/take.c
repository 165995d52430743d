// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Take a snapshot of an mm, in two steps. The first lists the VMAs under mmap_lock, with
 * references to their files. The second finds or builds the tables, without the lock:
 * building under mmap_lock would stop the whole process, and reading a file under it can
 * deadlock.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include "cache.h"
#include "compat/fs.h"
#include "coverage.h"
#include "listing.h"
#include "owner.h"
#include "snapshot.h"
#include "stats.h"
#include "table.h"
#include "times.h"

/*
 * Bytes of all names of one snapshot; seen: 30,000, in a process with 300 mappings.
 * Mappings beyond that get no name: 65,536 names of PATH_MAX bytes would be 256 MiB.
 */
#define MAX_NAME_BYTES	SZ_1M

static struct kw_table *table_of(const struct kw_found *f,
				 const struct kw_payer *payer,
				 unsigned long deadline)
{
	if (f->vdso)
		return kw_table_get_vdso(f->vdso);
	return f->file ? kw_table_get(f->file, payer, deadline) : NULL;
}

/* Return: a reference; NULL if there is no memory. */
static struct kw_name *make_name(const struct kw_found *f)
{
	if (f->file)
		return kw_name_of_file(f->file);
	return kw_name_make(f->vdso ? "[vdso]" : "[uprobes]");
}

/* The snapshot takes over the references of @origin. */
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

/* Keep what an earlier snapshot knows. The reference to the table becomes the snapshot's. */
static void add_known(struct kw_snapshot *snap, struct kw_found *f)
{
	struct kw_origin origin = *f->known;

	if (origin.name && has_room_for_name(snap))
		atomic_long_inc(&origin.name->refs);
	else
		origin.name = NULL;
	/* The mapping may be only a part of the earlier one. */
	origin.off = f->off;
	f->known = NULL;
	add_origin(snap, f, &origin);
}

/* Whether another attempt may find the table. What cannot be opened never gives one. */
static bool may_pass(const struct kw_table *t)
{
	return IS_ERR(t) && t != ERR_PTR(-EACCES);
}

/*
 * Add a mapping. If its table is missing because memory, time or a file server's answer
 * was, or because the file could not be read or changed meanwhile, leave the mapping out:
 * walks say INCOMPLETE_MAP there, and another attempt follows. After any other failure, add
 * it without a table.
 * Return: 0, or -EINTR.
 */
static int add_mapping(struct kw_snapshot *snap, struct kw_found *f,
		       const struct kw_payer *payer, const struct kw_taker *taker)
{
	struct kw_origin origin = { .off = f->off };
	struct kw_table *t = ERR_PTR(-ETIME);

	if (f->known) {
		add_known(snap, f);
		return 0;
	}
	if (!f->skipped && time_before(jiffies, taker->deadline + KW_ATTACH_GRACE))
		t = table_of(f, payer, taker->deadline);
	if (t == ERR_PTR(-EINTR))
		return -EINTR;
	if (may_pass(t)) {
		if (t == ERR_PTR(-ETIME))
			kw_count(mappings_left);
		snap->lacking = true;
		return 0;
	}
	origin.table = IS_ERR(t) ? NULL : t;
	if (f->file) {
		origin.inode = file_user_inode(f->file)->i_ino;
		origin.dev = file_user_inode(f->file)->i_sb->s_dev;
	}
	if (has_room_for_name(snap))
		origin.name = make_name(f);
	add_origin(snap, f, &origin);
	return 0;
}

static struct kw_snapshot *take(struct kw_listing *l, const struct kw_payer *payer)
{
	struct kw_snapshot *snap;
	u32 i;
	int ret;

	snap = kw_snapshot_alloc(l->count);
	if (!snap)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < l->count; i++) {
		ret = fatal_signal_pending(current) ? -EINTR :
			      add_mapping(snap, &l->found[i], payer, l->taker);
		if (ret) {
			kw_snapshot_put(snap);
			return ERR_PTR(ret);
		}
		cond_resched();
	}
	snap->version = l->version;
	snap->map.incomplete = l->count == l->capacity || snap->lacking;
	return snap;
}

/*
 * Take a snapshot of the executable mappings of @mm. @bases are earlier snapshots of the
 * same space. Allocations are charged to the cgroup and the user of the process that has @mm,
 * even if an attaching tracer takes the snapshot.
 * Context: process context, sleeps, builds tables; no lock of memory management may be
 * held, and the caller holds @mm.
 * Return: the snapshot, or ERR_PTR(): -EINTR after a fatal signal, -ENOMEM, -EBUSY.
 */
struct kw_snapshot *kw_snapshot_take(const struct kw_space *space,
				     struct mm_struct *mm,
				     const struct kw_bases *bases,
				     const struct kw_taker *taker)
{
	struct kw_listing l = { .space = space, .taker = taker, .bases = bases };
	struct kw_snapshot *snap;
	struct kw_payer payer;
	int ret;

	might_sleep();
	ret = kw_payer_begin(&payer, mm);
	if (!ret)
		ret = kw_listing_make(&l, mm);
	snap = ret ? ERR_PTR(ret) : take(&l, &payer);
	kw_listing_clear(&l);
	kw_payer_end(&payer);
	return snap;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The executable VMAs of an mm, with what the snapshot before knows of them. */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "cache.h"
#include "limits.h"
#include "listing.h"
#include "owner.h"
#include "snapshot.h"
#include "stats.h"

/* Executable mappings of an ordinary process: tens. */
#define FIRST_CAPACITY	64

/*
 * How long one waits for another process's mmap_lock: a fault that waits for a file
 * server may have it.
 */
#define LOCK_PATIENCE	HZ

/* Whether it is the kernel's own mapping of that name. */
static bool is_special(struct vm_area_struct *vma, const char *expected)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name && !strcmp(name, expected);
}

/* What the listing's old snapshot says about the same mapping of the same inode. */
static const struct kw_origin *find_old(struct kw_listing *l,
					const struct vm_area_struct *vma)
{
	const struct inode *inode = file_user_inode(vma->vm_file);
	const struct kw_snapshot *old = l->old;
	const struct kw_origin *origin;
	const struct kuw_mapping *m;

	if (!old)
		return NULL;
	while (l->passed < old->map.count &&
	       old->map.mappings[l->passed].end <= vma->vm_start)
		l->passed++;
	if (l->passed == old->map.count)
		return NULL;
	m = &old->map.mappings[l->passed];
	origin = &old->origins[l->passed];
	if (m->start != vma->vm_start || m->end != vma->vm_end ||
	    origin->off != (u64)vma->vm_pgoff << PAGE_SHIFT ||
	    origin->inode != inode->i_ino || origin->dev != inode->i_sb->s_dev)
		return NULL;
	return origin;
}

/*
 * That, if the cache would give the same table for it. Most of a process's mappings
 * are as they were: with 75 libraries, looking these up was half of what a snapshot
 * took.
 * Return: with a reference to the table; NULL.
 */
static const struct kw_origin *find_known(struct kw_listing *l,
					  const struct vm_area_struct *vma)
{
	const struct kw_origin *origin = find_old(l, vma);
	struct kw_identity id;

	if (!origin || !origin->table || !origin->name ||
	    !kw_identity_of(vma->vm_file, &id) ||
	    memcmp(&id, &origin->table->id, sizeof(id)))
		return NULL;
	return kw_table_share(origin->table) ? origin : NULL;
}

/*
 * A file that can keep its reader waiting for ever is read by who has just mapped it
 * only. Others keep what that one has found, unless it may have been mapped anew since:
 * nothing but its server says that its bytes are the same then. They take no reference
 * to the file, as the last fput() would be theirs, and waits for the server, too.
 */
static void keep_or_skip(struct kw_listing *l, const struct vm_area_struct *vma,
			 bool keeps, struct kw_found *f)
{
	if (keeps)
		f->known = find_old(l, vma);
	if (f->known)
		kw_table_hold(f->known->table);
	else
		f->skipped = true;
}

/* What a map can say something about: not anonymous memory. */
static bool describe(struct kw_listing *l, struct vm_area_struct *vma,
		     const struct kw_patience *patience, struct kw_found *f)
{
	struct mm_struct *mm = vma->vm_mm;

	*f = (struct kw_found) { .start = vma->vm_start, .end = vma->vm_end };
	if (vma->vm_file) {
		f->off = (u64)vma->vm_pgoff << PAGE_SHIFT;
		f->known = find_known(l, vma);
		if (f->known)
			return true;
		if (!patience->may_hang && kw_identity_may_hang(vma->vm_file))
			keep_or_skip(l, vma, patience->keeps, f);
		else
			f->file = get_file(vma->vm_file);
		return true;
	}
	/* A program can unmap it, and have code of its own there. */
	if (vma->vm_start == (unsigned long)mm->context.vdso &&
	    is_special(vma, "[vdso]")) {
		f->vdso = mm->context.vdso_image;
		return f->vdso;
	}
	f->uretprobe = is_special(vma, "[uprobes]");
	return f->uretprobe;
}

static void list_vmas(struct mm_struct *mm, const struct kw_patience *patience,
		      struct kw_listing *l)
{
	struct vm_area_struct *vma;
	struct vma_iterator vmi;

	vma_iter_init(&vmi, mm, 0);
	mmap_assert_locked(mm);
	l->overflow = false;
	for_each_vma(vmi, vma) {
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (l->count == l->capacity) {
			l->overflow = true;
			return;
		}
		if (describe(l, vma, patience, &l->found[l->count]))
			l->count++;
	}
}

/* Give up what kw_list_mm() has taken references to. */
void kw_listing_clear(struct kw_listing *l)
{
	while (l->count) {
		const struct kw_found *f = &l->found[--l->count];

		if (f->file)
			fput(f->file);
		if (f->known)
			kw_table_put(f->known->table);
	}
	kvfree(l->found);
	l->found = NULL;
}

/* Return: 0, -EINTR, -ETIME. */
static int lock_mm(struct mm_struct *mm, const struct kw_patience *patience)
{
	unsigned long until = jiffies + LOCK_PATIENCE;

	if (patience->own)
		return mmap_read_lock_killable(mm);
	while (!mmap_read_trylock(mm)) {
		if (time_after_eq(jiffies, until) ||
		    time_after_eq(jiffies, patience->deadline))
			return -ETIME;
		schedule_timeout_killable(1);
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/**
 * kw_list_mm() - list the executable VMAs of an mm
 * @mm: an mm whose users the caller holds
 * @old: an earlier snapshot of it, for what has not changed; or NULL
 * @patience: the caller's
 * @l: the list, to be given to kw_listing_clear() if it is taken
 *
 * Context: process context, sleeps; no lock of memory management may be held.
 * Return: 0; -EINTR after a fatal signal; -ENOMEM; -ETIME if another process's
 *	mmap_lock is not to be had.
 */
int kw_list_mm(struct mm_struct *mm, const struct kw_snapshot *old,
	       const struct kw_patience *patience, struct kw_listing *l)
{
	u32 capacity = FIRST_CAPACITY + (old ? old->map.count : 0);
	int ret;

	for (; ; capacity *= 4) {
		*l = (struct kw_listing) {
			.old = old,
			.capacity = min_t(u32, capacity, KUW_MAX_MAPPINGS),
		};
		l->found = kvmalloc_array(l->capacity, sizeof(*l->found), KW_GFP);
		if (!l->found) {
			kw_count_failed_kvmalloc();
			return -ENOMEM;
		}
		ret = lock_mm(mm, patience);
		if (ret) {
			kw_listing_clear(l);
			return ret;
		}
		list_vmas(mm, patience, l);
		mmap_read_unlock(mm);
		if (!l->overflow || l->capacity == KUW_MAX_MAPPINGS)
			return 0;
		kw_listing_clear(l);
	}
}

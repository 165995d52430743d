// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* List the executable VMAs of an mm, with what earlier snapshots know of them. */
#include <linux/file.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "cache.h"
#include "compat/fs.h"
#include "coverage.h"
#include "budgets.h"
#include "listing.h"
#include "owner.h"
#include "snapshot.h"

/* Executable mappings of an ordinary process: tens. */
#define FIRST_CAPACITY	64

/* Whether @vma is the kernel's special mapping of that name. */
static bool is_special(struct vm_area_struct *vma, const char *expected)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name && !strcmp(name, expected);
}

/* The mapping of @old that has the addresses, offset and inode of @vma; NULL if none has. */
static const struct kw_origin *find_old(const struct kw_snapshot *old,
					const struct vm_area_struct *vma)
{
	const struct inode *inode = file_user_inode(vma->vm_file);
	u32 i = kuw_map_behind(&old->map, vma->vm_start);
	const struct kw_origin *origin = &old->origins[i];
	const struct kuw_mapping *m = &old->map.mappings[i];

	if (i == old->map.count || m->start > vma->vm_start ||
	    m->end < vma->vm_end ||
	    origin->off + (vma->vm_start - m->start) !=
		    (u64)vma->vm_pgoff << PAGE_SHIFT ||
	    origin->inode != inode->i_ino || origin->dev != inode->i_sb->s_dev)
		return NULL;
	return origin;
}

/*
 * The same, if the mapping has not changed since: then it keeps its table and its name, on any
 * file system. The identity shows whether the file's bytes have changed.
 * Return: with a reference to the table; NULL.
 */
static const struct kw_origin *find_in(const struct kw_snapshot *old,
				       const struct kw_space *space,
				       const struct vm_area_struct *vma)
{
	const struct kw_origin *origin;
	struct kw_identity now;

	origin = old ? find_old(old, vma) : NULL;
	if (!origin || !origin->table ||
	    kw_space_changed(space, old->version, vma->vm_start, vma->vm_end))
		return NULL;
	kw_identity_of(vma->vm_file, &now);
	if (memcmp(&now, &origin->table->id, sizeof(now)))
		return NULL;
	/* The snapshot has one, so this is not the first. */
	atomic_long_inc(&origin->table->refs);
	return origin;
}

/*
 * Whether the taker leaves a file to others, as reading it may block for ever:
 *
 *  - A file of a file server, unless this task has just mapped it. The server may be
 *    waiting for this task.
 *  - For an attaching tracer, a file that is being written.
 *
 * The taker takes no reference to such a file: the last fput() waits for the server, too.
 */
static bool is_left(const struct kw_taker *taker, const struct vm_area_struct *vma)
{
	if (kw_identity_may_hang(vma->vm_file))
		return taker->mapped.start >= vma->vm_end ||
		       vma->vm_start >= taker->mapped.end;
	return !taker->own && kw_identity_may_block(vma->vm_file);
}

/* Describe @vma. Return: false for anonymous memory, which a snapshot leaves out. */
static bool describe(struct kw_listing *l, struct vm_area_struct *vma,
		     struct kw_found *f)
{
	struct mm_struct *mm = vma->vm_mm;

	*f = (struct kw_found) { .start = vma->vm_start, .end = vma->vm_end };
	if (vma->vm_file) {
		f->off = (u64)vma->vm_pgoff << PAGE_SHIFT;
		f->known = find_in(l->bases->published, l->space, vma) ?:
			   find_in(l->bases->own, l->space, vma);
		f->skipped = !f->known && is_left(l->taker, vma);
		if (!f->known && !f->skipped)
			f->file = get_file(vma->vm_file);
		return true;
	}
	/* A program can unmap the vDSO and map its own code there. */
	if (vma->vm_start == (unsigned long)mm->context.vdso &&
	    is_special(vma, "[vdso]")) {
		f->vdso = mm->context.vdso_image;
		return f->vdso;
	}
	f->uretprobe = is_special(vma, "[uprobes]");
	return f->uretprobe;
}

static void list_vmas(struct kw_listing *l, struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	struct vma_iterator vmi;

	mmap_assert_locked(mm);
	vma_iter_init(&vmi, mm, 0);
	/* No event can come while mmap_lock is held. */
	l->version = READ_ONCE(l->space->events);
	/*
	 * Of an mm that has ended, nothing is listed. If it ends after this, drop_snapshot() makes
	 * the version wrong.
	 */
	smp_rmb();
	if (!atomic_read(&mm->mm_users))
		return;
	for_each_vma(vmi, vma) {
		/* There can be a million, of any kind. */
		cond_resched();
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (l->count == l->capacity)
			return;
		if (describe(l, vma, &l->found[l->count]))
			l->count++;
	}
}

/* Give up the references and the memory of a listing; an empty one has none. */
void kw_listing_clear(struct kw_listing *l)
{
	while (l->count) {
		const struct kw_found *f = &l->found[--l->count];

		if (f->file)
			fput(f->file);
		if (f->known)
			kw_table_put(f->known->table);
		cond_resched();
	}
	kvfree(l->found);
	l->found = NULL;
}

/* Never wait for another process's mmap_lock: a fault may hold it, waiting for a server. */
static int lock_mm(struct mm_struct *mm, bool own)
{
	if (own)
		return mmap_read_lock_killable(mm);
	return mmap_read_trylock(mm) ? 0 : -EBUSY;
}

/*
 * List the executable VMAs of @mm, which the caller holds. If it has no users any more, exit_mmap()
 * frees the VMAs with mmap_lock held for writing, and then there are none. The caller has set the
 * space, taker and bases of @l; the rest is zeroed. It calls kw_listing_clear(), even after an
 * error.
 * Context: process context, sleeps; no lock of memory management may be held.
 * Return: 0; -EINTR after a fatal signal; -ENOMEM; -EBUSY if another process's
 * mmap_lock is taken.
 */
int kw_listing_make(struct kw_listing *l, struct mm_struct *mm)
{
	const struct kw_snapshot *old = l->bases->published;
	u32 capacity = FIRST_CAPACITY + (old ? old->map.count : 0);
	struct mem_cgroup *process;
	int ret;

	for (; ; capacity *= 4) {
		l->capacity = min_t(u32, capacity, KUW_MAX_MAPPINGS);
		/* The list is the caller's: the cgroup of another process must not delay it. */
		process = set_active_memcg(NULL);
		l->found = kw_alloc(l->capacity * sizeof(*l->found), KW_GFP);
		set_active_memcg(process);
		if (!l->found)
			return -ENOMEM;
		ret = lock_mm(mm, l->taker->own);
		if (ret)
			return ret;
		list_vmas(l, mm);
		mmap_read_unlock(mm);
		if (l->count < l->capacity || l->capacity == KUW_MAX_MAPPINGS)
			return 0;
		kw_listing_clear(l);
	}
}

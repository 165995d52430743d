// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * From the VMAs of an mm to a snapshot, in two steps: the VMAs are listed under
 * mmap_lock, with references to their files; the tables are looked up, or
 * built, without it. Building under mmap_lock would stop the whole process, and
 * reading a file under it can deadlock.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <asm/vdso.h>
#include "limits.h"
#include "owner.h"
#include "snapshot.h"
#include "stats.h"
#include "table.h"
#include "cache.h"

/* Executable mappings of an ordinary process: tens. */
#define FIRST_CAPACITY	64
/*
 * Bytes of all names of one snapshot; a process seen with 300 mappings has 30,000.
 * The mappings behind have none: 65,536 of PATH_MAX bytes each would be 256 MiB.
 */
#define MAX_NAME_BYTES	SZ_1M

/*
 * Bytes of snapshots that are cut from one another until a new one is taken: they
 * all stay until then, and one mprotect() can replace 65,530 mappings. A process
 * with 30 mappings has 3,000 in each, one with 1,000 has 90,000.
 */
#define MAX_CUT_BYTES	SZ_1M

/*
 * How long one waits for another process's mmap_lock: a fault that waits for a file
 * server may have it.
 */
#define LOCK_PATIENCE	HZ

static struct workqueue_struct *wq;

/* Every snapshot has a number of its own: 64 bits do not come round. */
static atomic64_t last_number = ATOMIC64_INIT(0);

/* An executable VMA: made under mmap_lock, used and freed by the same task. */
struct found {
	u64 start;
	u64 end;
	u64 off;
	/* One of these, with a reference to the file or to the known one's table. */
	struct file *file;
	const struct vdso_image *vdso;
	const struct kw_origin *known;
	bool uretprobe;
};

struct listing {
	/* Of the same mm, or NULL; and how much of it is at lower addresses. */
	const struct kw_snapshot *old;
	u32 passed;
	struct found *found;
	u32 count;
	u32 capacity;
	bool overflow;
};

/* Whether it is the kernel's own mapping of that name. */
static bool is_special(struct vm_area_struct *vma, const char *expected)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name && !strcmp(name, expected);
}

/* Whether @origin is of @file as it is now. */
static bool is_of(const struct kw_origin *origin, struct file *file)
{
	const struct inode *inode = file_user_inode(file);
	struct kw_identity id;

	return origin->inode == inode->i_ino && origin->dev == inode->i_sb->s_dev &&
	       kw_identity_of(file, &id) &&
	       !memcmp(&id, &origin->table->id, sizeof(id));
}

/*
 * What the listing's old snapshot says about the same mapping, if the cache would
 * give the same table for it. Most of a process's mappings are as they were: with
 * 75 libraries, looking these up was half of what a snapshot took.
 * Return: with a reference to the table; NULL.
 */
static const struct kw_origin *find_known(struct listing *l,
					  const struct vm_area_struct *vma)
{
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
	    !origin->table || !origin->name || !is_of(origin, vma->vm_file))
		return NULL;
	return kw_table_share(origin->table) ? origin : NULL;
}

/* What a map can say something about: not anonymous memory. */
static bool describe(struct listing *l, struct vm_area_struct *vma, struct found *f)
{
	struct mm_struct *mm = vma->vm_mm;

	*f = (struct found) { .start = vma->vm_start, .end = vma->vm_end };
	if (vma->vm_file) {
		f->off = (u64)vma->vm_pgoff << PAGE_SHIFT;
		f->known = find_known(l, vma);
		if (!f->known)
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

static void list_vmas(struct mm_struct *mm, struct listing *l)
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
		if (describe(l, vma, &l->found[l->count]))
			l->count++;
	}
}

static void listing_clear(struct listing *l)
{
	while (l->count) {
		const struct found *f = &l->found[--l->count];

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

static int list_mm(struct mm_struct *mm, const struct kw_snapshot *old,
		   const struct kw_patience *patience, struct listing *l)
{
	u32 capacity = FIRST_CAPACITY + (old ? old->map.count : 0);
	int ret;

	for (; ; capacity *= 4) {
		*l = (struct listing) {
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
			listing_clear(l);
			return ret;
		}
		list_vmas(mm, l);
		mmap_read_unlock(mm);
		if (!l->overflow || l->capacity == KUW_MAX_MAPPINGS)
			return 0;
		listing_clear(l);
	}
}

static struct kw_table *table_of(const struct found *f, struct kw_owner *owner,
				 unsigned long deadline)
{
	if (f->vdso)
		return kw_table_get_vdso(f->vdso);
	return f->file ? kw_table_get(f->file, owner, deadline) : NULL;
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

/*
 * The name that @old has for the mapping, if it is of the same file still: making
 * a name costs as much as finding a table.
 */
static struct kw_name *old_name(const struct found *f, const struct kw_snapshot *old)
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
static struct kw_name *make_name(const struct found *f, const struct kw_snapshot *old)
{
	struct kw_name *name = old_name(f, old);

	if (name)
		return name;
	if (f->file)
		return kw_name_of_file(f->file);
	return kw_name_make(f->vdso ? "[vdso]" : "[uprobes]");
}

/* Takes over the references of @origin. */
static void add_origin(struct kw_snapshot *snap, const struct found *f,
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

static void add_known(struct kw_snapshot *snap, struct found *f)
{
	struct kw_origin origin = *f->known;

	if (has_room_for_name(snap))
		refcount_inc(&origin.name->refs);
	else
		origin.name = NULL;
	f->known = NULL;
	add_origin(snap, f, &origin);
}

/*
 * A mapping whose table could not be made for want of memory, or of time, is left
 * out, so that walks say why they stop there. Any other failure costs it its table.
 * A file that can keep its reader waiting for ever is read by who has just mapped it
 * only, one that somebody writes by its own process: others go on without it.
 * Return: 0, or -EINTR.
 */
static int add_mapping(struct kw_snapshot *snap, struct found *f,
		       const struct kw_snapshot *old, struct kw_owner *owner,
		       const struct kw_patience *patience)
{
	struct kw_origin origin = { .off = f->off };
	struct kw_table *t;

	if (f->known) {
		add_known(snap, f);
		return 0;
	}
	if (!patience->may_hang && f->file && kw_identity_may_hang(f->file)) {
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

static struct kw_snapshot *take(struct mm_struct *mm,
				const struct kw_snapshot *old,
				struct kw_owner *owner,
				const struct kw_patience *patience)
{
	struct kw_snapshot *snap;
	struct listing l;
	u32 i;
	int ret;

	ret = list_mm(mm, old, patience, &l);
	if (ret)
		return ERR_PTR(ret);
	snap = snapshot_init(kvmalloc(snapshot_size(l.count), KW_GFP), l.count);
	if (!snap) {
		kw_count_failed_kvmalloc();
		ret = -ENOMEM;
		goto clear;
	}
	for (i = 0; i < l.count; i++) {
		ret = add_mapping(snap, &l.found[i], old, owner, patience);
		if (ret)
			goto free;
		cond_resched();
	}
	snap->map.incomplete = l.overflow || snap->starved || snap->skipped ||
			       snap->late;
	listing_clear(&l);
	return snap;

free:
	snapshot_free(snap);
clear:
	listing_clear(&l);
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

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One build reads what core/read/elf.c asks for, copies the sections, and runs
 * core/compile/compile.c in areas that grow on request. Everything is charged to the memory
 * cgroup of the process that maps the file, and to its user. All builds together share
 * kw_build_budget, as one user can map any number of files at the same time.
 */
#include <linux/elf.h>
#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "build.h"
#include "cache.h"
#include "compile.h"
#include "elf.h"
#include "owner.h"
#include "stats.h"

/* Bytes read or copied at a time. Other tasks and a fatal signal wait for one chunk. */
#define CHUNK	SZ_1M
/* Most files have a page of headers; a hostile file can have 256 KiB. */
#define MIN_PIECE	4096u

unsigned long kw_build_budget __read_mostly;

/*
 * The state of one build. Made, used and freed by one task; too large for the task's
 * stack.
 */
struct build {
	const struct kw_source *src;
	u8 *eh_frame;
	u8 *gopclntab;
	struct kuw_elf_file file;
	struct kuw_area pieces[KUW_ELF_PIECES];
	struct kuw_elf elf;
	struct kuw_compile compile;
};

/* For charge(): what it has not room for must not fill the budget for a moment either. */
static DEFINE_SPINLOCK(budget_lock);

static void uncharge(struct kw_owner *owner, size_t bytes)
{
	if (owner)
		atomic_long_sub(bytes, &owner->build_bytes);
	kw_gauge_sub(build_bytes, bytes);
}

/* Return: false if the budget has no room for @bytes more. */
static bool charge(struct kw_owner *owner, size_t bytes)
{
	size_t own, all;
	bool fits;

	spin_lock(&budget_lock);
	own = owner ? atomic_long_read(&owner->build_bytes) + bytes : 0;
	all = kw_gauge(build_bytes) + bytes;
	fits = all <= kw_build_budget &&
	       own <= kw_owner_limit(owner, kw_build_budget, all - min(all, own));
	if (fits) {
		kw_gauge_add(build_bytes, bytes);
		if (owner)
			atomic_long_add(bytes, &owner->build_bytes);
	}
	spin_unlock(&budget_lock);
	if (!fits)
		kw_count(table_refusals);
	return fits;
}

static void *area_alloc(struct build *b, size_t bytes)
{
	void *mem;

	/* No file needs so much. */
	if (bytes > INT_MAX || !charge(b->src->owner, bytes))
		return NULL;
	/* No cgroup pays for the vDSO's table, which all processes share. */
	mem = kw_alloc(bytes, b->src->file ? KW_GFP : KW_GFP & ~__GFP_ACCOUNT);
	if (!mem)
		uncharge(b->src->owner, bytes);
	return mem;
}

static void area_free(struct build *b, void *mem, size_t bytes)
{
	if (!mem)
		return;
	kvfree(mem);
	uncharge(b->src->owner, bytes);
}

/*
 * Whether to stop. A suspend, and the freezing of a cgroup, wait until this task stops, and it can
 * have thousands of files to compile. Return: 0; -EINTR after a fatal signal; -ETIME.
 */
int kw_build_stops(const struct kw_source *src)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	if (freezing(current) || READ_ONCE(current->jobctl) & JOBCTL_TRAP_FREEZE)
		return -ETIME;
	return time_after_eq(jiffies, src->deadline) ? -ETIME : 0;
}

/*
 * Charge page cache to the current task, as a read() would, and not to the active memory
 * cgroup, which is that of the traced process. A cgroup without room for the pages may
 * have a process killed, and a tracer must not cause that.
 */
static ssize_t read_some(struct file *file, void *to, size_t len, loff_t pos)
{
	struct mem_cgroup *before = set_active_memcg(NULL);
	ssize_t n = kernel_read(file, to, len, &pos);

	set_active_memcg(before);
	return n;
}

static int read_bytes(const struct kw_source *src, void *to, u64 off, u32 len)
{
	int ret;

	if (off > src->size || len > src->size - off)
		return -EINVAL;
	if (!src->file) {
		memcpy(to, src->mem + off, len);
		return 0;
	}
	while (len) {
		ssize_t n;

		ret = kw_build_stops(src);
		if (ret)
			return ret;
		n = read_some(src->file, to, min_t(u32, len, CHUNK), off);
		/*
		 * An error of the read is no verdict on the bytes: another opener
		 * may be able to read them (with O_DIRECT, -EINVAL is an alignment
		 * error). -EINTR can come from a file server, without a signal.
		 */
		if (n == -EINTR && fatal_signal_pending(current))
			return -EINTR;
		if (n < 0)
			return n == -ENOMEM ? -ENOMEM : -EIO;
		/* The file was truncated. */
		if (!n)
			return -ESTALE;
		to += n;
		off += n;
		len -= n;
		cond_resched();
	}
	return 0;
}

/* For the ELF reader. */
static int read_piece(struct kuw_elf_file *file, u32 nr, u64 off, u32 len, const u8 **bytes)
{
	struct build *b = container_of(file, struct build, file);
	struct kuw_area *piece = &b->pieces[nr];

	if (WARN_ON_ONCE(nr >= KUW_ELF_PIECES || len > KUW_ELF_MAX_READ))
		return -EINVAL;
	if (len > piece->bytes) {
		area_free(b, piece->mem, piece->bytes);
		piece->bytes = max(len, MIN_PIECE);
		piece->mem = area_alloc(b, piece->bytes);
		if (!piece->mem)
			return -ENOMEM;
	}
	*bytes = piece->mem;
	return read_bytes(b->src, piece->mem, off, len);
}

static int read_elf(struct build *b)
{
	int ret, i;

	b->file.size = b->src->size;
	b->file.read = read_piece;
	ret = kuw_elf_read(&b->elf, &b->file);
	for (i = 0; i < KUW_ELF_PIECES; i++)
		area_free(b, b->pieces[i].mem, b->pieces[i].bytes);
	return ret;
}

static int read_range(struct build *b, const struct kuw_range *range, u8 **bytes)
{
	*bytes = area_alloc(b, range->len);
	if (!*bytes)
		return -ENOMEM;
	return read_bytes(b->src, *bytes, range->off, range->len);
}

/* Copy in chunks: @bytes can be almost as many as the budget. Context: process context. */
void kw_build_copy(void *to, const void *from, u64 bytes)
{
	u64 done, n;

	for (done = 0; done < bytes; done += n) {
		n = min_t(u64, bytes - done, CHUNK);
		memcpy(to + done, from + done, n);
		cond_resched();
	}
}

static struct build *build_of(struct kuw_areas *areas)
{
	return container_of(areas, struct build, compile.areas);
}

static int grow(struct kuw_areas *areas, u32 id, u64 bytes)
{
	struct kuw_area *area = &areas->area[id];
	struct build *b = build_of(areas);
	void *mem;

	mem = area_alloc(b, bytes);
	if (!mem)
		return -ENOMEM;
	if (area->mem) {
		kw_build_copy(mem, area->mem, area->bytes);
		area_free(b, area->mem, area->bytes);
	}
	area->mem = mem;
	area->bytes = bytes;
	return 0;
}

static int pause(struct kuw_areas *areas)
{
	cond_resched();
	return kw_build_stops(build_of(areas)->src);
}

static int compile(struct build *b)
{
	struct kuw_compile *c = &b->compile;

	kuw_compile_init(c, &b->elf, b->eh_frame, b->gopclntab);
	c->areas.grow = grow;
	c->areas.pause = pause;
	return kuw_compile(c);
}

static int run(struct build *b)
{
	int ret;

	ret = read_elf(b);
	if (ret)
		return ret;
	if (b->elf.eh_frame.len)
		ret = read_range(b, &b->elf.eh_frame, &b->eh_frame);
	if (!ret && b->elf.gopclntab.len)
		ret = read_range(b, &b->elf.gopclntab, &b->gopclntab);
	return ret ? ret : compile(b);
}

/* Whether an error of kw_build() is a verdict on the bytes: another attempt is in vain. */
bool kw_build_is_final(int error)
{
	switch (error) {
	case -ENOEXEC:
	case -EINVAL:
	case -ENODATA:
	case -E2BIG:
	case -EFBIG:
		return true;
	}
	return false;
}

/*
 * Compile a table, and set @t->table, whose bytes are charged to no budget any more. A failed
 * build, too, may find the build ID.
 * Context: process context, sleeps, reads files; no lock of memory management may be held.
 * Return: 0; an error of kw_build_is_final() if these bytes never give a table; any other
 * error if another attempt may succeed.
 */
int kw_build(const struct kw_source *src, struct kw_table *t)
{
	struct kuw_area *area;
	char magic[SELFMAG];
	struct build *b;
	int ret, i;

	might_sleep();
	/*
	 * JIT compilers map many files that are not ELF. Reject them before anything is allocated:
	 * that could fail, and would be tried again.
	 */
	ret = read_bytes(src, magic, 0, sizeof(magic));
	if (ret)
		return ret;
	if (memcmp(magic, ELFMAG, SELFMAG))
		return -ENOEXEC;
	b = kw_alloc(sizeof(*b), KW_GFP | __GFP_ZERO);
	if (!b)
		return -ENOMEM;
	b->src = src;
	ret = run(b);
	t->build_id_len = b->elf.build_id_len;
	memcpy(t->build_id, b->elf.build_id, sizeof(t->build_id));
	if (!ret) {
		area = &b->compile.areas.area[KUW_AREA_TABLE];
		t->table = area->mem;
		uncharge(src->owner, area->bytes);
		area->mem = NULL;
	}
	for (i = 0; i < KUW_NR_AREAS; i++)
		area_free(b, b->compile.areas.area[i].mem,
			  b->compile.areas.area[i].bytes);
	area_free(b, b->gopclntab, b->elf.gopclntab.len);
	area_free(b, b->eh_frame, b->elf.eh_frame.len);
	kvfree(b);
	return ret;
}

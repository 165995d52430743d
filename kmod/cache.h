/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The tables of files. Processes that map the same file share its table; see cache.c. */
#ifndef KW_CACHE_H
#define KW_CACHE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include "elf.h"

struct file;
struct kw_owner;
struct kw_payer;
struct kuw_table;
struct mem_cgroup;
struct vdso_image;

/*
 * The identity of a file: what must be equal for two mappings to share a table. Compared as
 * bytes, so it has no padding, and every byte is set.
 *
 * A build ID is not part of it. Reading one costs more than looking a table up, and a
 * hostile file can carry any build ID.
 */
struct kw_identity {
	/* The superblock's address, without a reference. For the vDSO 0, and @ino is its image. */
	u64 sb;
	u64 medium;
	u64 subvolume;
	u64 ino;
	u64 size;
	u64 version;
	s64 ctime_sec;
	s64 mtime_sec;
	u32 ctime_nsec;
	u32 mtime_nsec;
	u32 dev;
	u32 generation;
};

/*
 * One file's table.
 *
 * Made by kw_table_get() or kw_table_get_vdso(), in a task that maps the file or in an
 * attaching tracer. Complete before another task can find it. Walks read it through a
 * snapshot, which holds a reference. All others need a reference of their own. The last
 * kw_table_put() frees it, or leaves it in the cache as idle. Idle tables are evicted:
 * by the budget, by the shrinker, or when the last consumer detaches.
 *
 * kw_cache_lock protects @node and the lists. @refs becomes 0, or 1 again, only under it. A
 * task that has a reference can take another one without it. Each mapping of each snapshot has
 * one, so 32 bits would not suffice. The rest does not change.
 */
struct kw_table {
	struct hlist_node node;
	struct list_head lru;
	struct list_head own;
	struct list_head idle;
	struct kw_identity id;
	atomic_long_t refs;
	/* NULL if the file has no usable unwind information. */
	struct kuw_table *table;
	size_t bytes;
	/* The user whose budget it counts for, by a reference; NULL for the vDSO. */
	struct kw_owner *owner;
	/*
	 * The cgroup that is charged for it, by a reference: only that cgroup's
	 * processes use it. NULL if several cgroups use it; then none is charged.
	 */
	struct mem_cgroup *memcg;
	/* The file could have changed unnoticed: only the mapping has it that it was made for. */
	bool doubtful;
	/* For readers of traces; it says nothing about whether the table is right. */
	u32 build_id_len;
	u8 build_id[KUW_BUILD_ID_MAX];
};

struct kw_table *kw_table_get(struct file *file, const struct kw_payer *payer,
			      unsigned long deadline);
struct kw_table *kw_table_get_vdso(const struct vdso_image *image);
void kw_table_put(struct kw_table *table);
int kw_cache_init(void);
void kw_cache_exit(void);

/* identity.c */
bool kw_identity_of(struct file *file, struct kw_identity *id);
bool kw_identity_may_hang(struct file *file);
bool kw_identity_may_block(struct file *file);

#endif /* KW_CACHE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The tables of all files: made once, shared by all processes that map the file. */
#ifndef KW_CACHE_H
#define KW_CACHE_H

#include <linux/list.h>
#include "elf.h"
#include "identity.h"

struct file;
struct kw_owner;
struct kw_payer;
struct kuw_table;
struct mem_cgroup;
struct vdso_image;

/*
 * One file's table.
 *
 * Made by kw_table_get() of a task that maps the file, and complete before anybody
 * else can find it. Read by walks, through a snapshot that holds a reference; by nobody
 * else without one. Freed by the last kw_table_put() if it is not in the cache,
 * else by eviction: budget, shrinker, or the last consumer's end.
 *
 * @refs, @node and the lists are under kw_cache_lock; the rest does not change.
 */
struct kw_table {
	struct hlist_node node;
	struct list_head lru;
	struct list_head idle;
	struct kw_identity id;
	unsigned int refs;
	/* NULL if the file has no usable unwind information. */
	struct kuw_table *table;
	size_t bytes;
	/* Whose budget it counts for; NULL for the vDSO. Held. */
	struct kw_owner *owner;
	/*
	 * The only cgroup whose processes use it, which is charged with it; NULL if
	 * several do, and then none is. Held.
	 */
	struct mem_cgroup *memcg;
	/* For readers of traces; it says nothing about whether the table is right. */
	u32 build_id_len;
	u8 build_id[KUW_BUILD_ID_MAX];
};

struct kw_table *kw_table_get(struct file *file, const struct kw_payer *payer,
			      unsigned long deadline);
struct kw_table *kw_table_get_vdso(const struct vdso_image *image);
void kw_table_hold(struct kw_table *t);
void kw_table_put(struct kw_table *table);
void kw_tables_open(void);
void kw_tables_close(void);

#endif /* KW_CACHE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The tables of all files: made once, shared by everybody who maps the file. */
#ifndef KW_CACHE_H
#define KW_CACHE_H

#include <linux/completion.h>
#include <linux/list.h>
#include "elf.h"
#include "identity.h"

struct file;
struct kw_owner;
struct kuw_table;
struct vdso_image;

/*
 * One file's table.
 *
 * Made by kw_table_get() of the task that first maps the file. While it is
 * built, later comers wait on @done. From then on @table, @bytes and the build
 * ID do not change. Read by walks, through a snapshot that holds a reference; by nobody
 * else without one. Freed by the last kw_table_put() if it is not in the cache,
 * else by eviction: budget, shrinker, or the last consumer's end.
 *
 * @refs, @node and the lists are under the cache's lock; @error and @table are
 * written by the builder before @done.
 */
struct kw_table {
	struct hlist_node node;
	struct list_head lru;
	struct list_head owner_lru;
	struct list_head idle;
	struct kw_identity id;
	unsigned int refs;
	int error;
	struct completion done;
	/* NULL if the file has no usable unwind information. */
	struct kuw_table *table;
	size_t bytes;
	/* Whose process mapped the file first; NULL for the vDSO. Held. */
	struct kw_owner *owner;
	/* For who reads traces; it says nothing about whether the table is right. */
	u32 build_id_len;
	u8 build_id[KUW_BUILD_ID_MAX];
};

extern unsigned long kw_table_budget;

struct kw_table *kw_table_get(struct file *file, struct kw_owner *owner,
			      unsigned long deadline);
struct kw_table *kw_table_get_vdso(const struct vdso_image *image);
bool kw_table_share(struct kw_table *t);
void kw_table_hold(struct kw_table *t);
void kw_table_put(struct kw_table *table);
void kw_tables_open(void);
void kw_tables_close(void);
int kw_tables_init(void);
void kw_tables_exit(void);

#endif /* KW_CACHE_H */

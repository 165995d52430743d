/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Bytes of a file, or of the vDSO, become a table. */
#ifndef KW_BUILD_H
#define KW_BUILD_H

#include <linux/types.h>
#include "elf.h"

struct file;
struct kuw_table;
struct kw_owner;

/* Where the bytes come from: @file, or @size bytes at @mem if it is NULL. */
struct kw_source {
	struct file *file;
	const void *mem;
	u64 size;
	/* On whose behalf, or NULL. */
	struct kw_owner *owner;
	/* What the table may take. */
	size_t room;
	/* In jiffies: when to give up. */
	unsigned long deadline;
};

/* A finished table, to be freed by kvfree(); the build ID also without one. */
struct kw_built {
	struct kuw_table *table;
	size_t bytes;
	u32 build_id_len;
	u8 build_id[KUW_BUILD_ID_MAX];
};

extern unsigned long kw_build_budget;

int kw_build(const struct kw_source *src, struct kw_built *built);

#endif /* KW_BUILD_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Compile a file, or the vDSO, to a table. */
#ifndef KW_BUILD_H
#define KW_BUILD_H

#include <linux/types.h>

struct file;
struct kw_owner;
struct kw_table;

/* Where the bytes come from: @file, or @size bytes at @mem if it is NULL. */
struct kw_source {
	struct file *file;
	const void *mem;
	u64 size;
	/* The user whose budgets pay; NULL for the kernel. */
	struct kw_owner *owner;
	/* When to give up, in jiffies. */
	unsigned long deadline;
};

extern unsigned long kw_build_budget;

int kw_build_stops(const struct kw_source *src);
void kw_build_copy(void *to, const void *from, u64 bytes);
bool kw_build_is_final(int error);
int kw_build(const struct kw_source *src, struct kw_table *t);

#endif /* KW_BUILD_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where the code of a mapping comes from. Only readers of traces need this; walks do not. */
#ifndef KW_ORIGIN_H
#define KW_ORIGIN_H

#include <linux/refcount.h>
#include <linux/types.h>

struct file;
struct kunwind_mapping;
struct kw_table;

/*
 * A path, or a name in brackets such as "[vdso]". Made in process context by the task
 * that takes the snapshot. Immutable. Later snapshots that have the mapping share it;
 * each holds a reference. Freed by the last kw_name_put().
 */
struct kw_name {
	refcount_t refs;
	u32 bytes;
	char text[];
};

/* Part of a snapshot, which holds the references and is immutable. */
struct kw_origin {
	/* NULL if the mapping has no file and is not the vDSO, or if no table could be made. */
	struct kw_table *table;
	/* NULL if there was no memory for it, it is too long, or the space has too many. */
	struct kw_name *name;
	u64 off;
	u64 inode;
	dev_t dev;
};

struct kw_name *kw_name_make(const char *text);
struct kw_name *kw_name_of_file(const struct file *file);
void kw_name_put(struct kw_name *name);
bool kw_origin_equal(const struct kw_origin *a, const struct kw_origin *b);
void kw_origin_describe(const struct kw_origin *origin, struct kunwind_mapping *m);

#endif /* KW_ORIGIN_H */

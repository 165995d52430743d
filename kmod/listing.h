/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The executable VMAs of an mm at one moment, from which a snapshot is made. */
#ifndef KW_LISTING_H
#define KW_LISTING_H

#include <linux/types.h>

struct file;
struct kw_bases;
struct kw_origin;
struct kw_space;
struct kw_taker;
struct mm_struct;
struct vdso_image;

/* An executable VMA: made under mmap_lock, used and freed by the same task. */
struct kw_found {
	u64 start;
	u64 end;
	u64 off;
	/*
	 * One of the next four is set, unless the file is @skipped. With a reference to
	 * @file, or to the table of @known.
	 */
	struct file *file;
	const struct vdso_image *vdso;
	const struct kw_origin *known;
	bool uretprobe;
	/* No table of this file is known, and this task must not wait for the file. */
	bool skipped;
};

/* On the stack of the task that takes the snapshot; used by that task only. */
struct kw_listing {
	const struct kw_space *space;
	const struct kw_taker *taker;
	/* Earlier snapshots, whose tables the new one may keep. */
	const struct kw_bases *bases;
	/* The last event that the list knows of. */
	s64 version;
	struct kw_found *found;
	u32 count;
	/* If @count equals it, the mm may have more executable VMAs. */
	u32 capacity;
};

int kw_listing_make(struct kw_listing *l, struct mm_struct *mm);
void kw_listing_clear(struct kw_listing *l);

#endif /* KW_LISTING_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The executable VMAs of an mm at one moment, of which a snapshot is made. */
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
	/* One of these, with a reference to the file or to the known one's table. */
	struct file *file;
	const struct vdso_image *vdso;
	const struct kw_origin *known;
	bool uretprobe;
	/* A file that this task does not wait for, and nothing is known of it. */
	bool skipped;
};

/* On the stack of the task that takes the snapshot; nobody else knows of it. */
struct kw_listing {
	const struct kw_space *space;
	const struct kw_taker *taker;
	/* What may be known. */
	const struct kw_bases *bases;
	/* The last event that the list knows of. */
	s64 version;
	struct kw_found *found;
	u32 count;
	u32 capacity;
	/* There are more than a map can have. */
	bool overflow;
};

int kw_listing_make(struct kw_listing *l, struct mm_struct *mm);
void kw_listing_clear(struct kw_listing *l);

#endif /* KW_LISTING_H */

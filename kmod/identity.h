/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The identity of a file: what must be equal for two mappings to share a table.
 *
 * A build ID is not part of it. Reading one costs more than looking a table up, and a
 * hostile file can carry any build ID.
 */
#ifndef KW_IDENTITY_H
#define KW_IDENTITY_H

#include <linux/types.h>

struct file;

/* Compared as bytes, so it has no padding, and every byte is set. */
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

bool kw_identity_of(struct file *file, struct kw_identity *id);
bool kw_identity_may_hang(struct file *file);
bool kw_identity_may_block(struct file *file);

#endif /* KW_IDENTITY_H */

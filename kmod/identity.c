// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The identity of a file. It is read from the inode, without a call of the file
 * system (except btrfs's), so that a file server in user space cannot delay a look-up.
 *
 * The change time alone does not suffice: its grain is a tick, and a store through a
 * shared mapping moves it only when the page was clean; on tmpfs, only when it was not mapped.
 * So a file that is open for writing shares no table. If the file system keeps a change
 * counter, the counter is part of the identity.
 */
#include <linux/backing-dev-defs.h>
#include <linux/blkdev.h>
#include <linux/build_bug.h>
#include <linux/exportfs.h>
#include <linux/iversion.h>
#include <linux/magic.h>
#include <linux/user_namespace.h>
#include "cache.h"
#include "compat/fs.h"

/*
 * An unprivileged user who provides a file system can give a file any identity. After
 * the file system is unmounted, the kernel reuses its device number and the address of
 * its superblock, so that the identity could be that of another file. On FAT, a user who sets a
 * file's time of modification sets that of its change, too (fat_truncate_time()). No write moves
 * a time on hugetlbfs. A memfd is on a mount of the kernel's own, and never counts as open for
 * writing (alloc_file_pseudo()).
 */
static bool is_trusted(const struct super_block *sb)
{
	return sb->s_user_ns == &init_user_ns &&
	       !(sb->s_iflags & SB_I_UNTRUSTED_MOUNTER) && !(sb->s_flags & SB_KERNMOUNT) &&
	       sb->s_magic != HUGETLBFS_MAGIC &&
	       sb->s_magic != FUSE_SUPER_MAGIC && sb->s_magic != MSDOS_SUPER_MAGIC;
}

/*
 * A number that no other medium has had since the system started: of what is in a disk, or of
 * a file system without one. An image that is mounted after another one can have the same
 * device and superblock, and its files the same fixed times. btrfs and bcachefs can remove the
 * disk that s_bdev names.
 */
static u64 medium_of(const struct super_block *sb)
{
	if (sb->s_bdev && sb->s_magic != BTRFS_SUPER_MAGIC &&
	    sb->s_magic != BCACHEFS_SUPER_MAGIC)
		return sb->s_bdev->bd_disk->diskseq;
	return sb->s_bdi->id;
}

/*
 * The subvolume of a file of btrfs. All of them have one superblock, and each numbers its
 * inodes from the same number on. A file handle begins with the inode's number and that of the
 * subvolume, of 64 bits each. NFS clients keep handles, so this does not change.
 */
static u64 subvolume_of(struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	u32 handle[5] = {};
	int words = ARRAY_SIZE(handle);

	if (sb->s_magic != BTRFS_SUPER_MAGIC || !sb->s_export_op || !sb->s_export_op->encode_fh)
		return 0;
	sb->s_export_op->encode_fh(inode, handle, &words, NULL);
	return (u64)handle[3] << 32 | handle[2];
}

/*
 * Get the identity of a regular file as it is now. Context: any.
 * Return: true if all mappings of this identity may share a table made now; false if the
 * table may serve only this mapping.
 */
bool kw_identity_of(struct file *file, struct kw_identity *id)
{
	struct inode *inode = file_inode(file);
	struct timespec64 ctime = inode_get_ctime(inode);
	struct timespec64 mtime = inode_get_mtime(inode);

	static_assert(sizeof(*id) == 80);
	*id = (struct kw_identity) {
		.sb = (uintptr_t)inode->i_sb,
		.medium = medium_of(inode->i_sb),
		.subvolume = subvolume_of(inode),
		.ino = inode->i_ino,
		.size = i_size_read(inode),
		.version = IS_I_VERSION(inode) ? inode_query_iversion(inode) : 0,
		.ctime_sec = ctime.tv_sec,
		.mtime_sec = mtime.tv_sec,
		.ctime_nsec = ctime.tv_nsec,
		.mtime_nsec = mtime.tv_nsec,
		.dev = inode->i_sb->s_dev,
		.generation = inode->i_generation,
	};
	return is_trusted(inode->i_sb) && !inode_is_open_for_write(inode);
}

/* Whether a server in user space decides how long a read of @file takes. */
bool kw_identity_may_hang(struct file *file)
{
	return file_inode(file)->i_sb->s_magic == FUSE_SUPER_MAGIC;
}

/*
 * Whether a read of @file may wait for a writer's lock. The writer may hold it for ever:
 * its data can come from memory that a file server never fills. XFS takes the lock for a
 * buffered read, ext4 and tmpfs do not; every direct read takes it.
 */
bool kw_identity_may_block(struct file *file)
{
	const struct inode *inode = file_inode(file);

	return file->f_flags & O_DIRECT || (inode_is_open_for_write(inode) &&
					    inode->i_sb->s_magic != TMPFS_MAGIC);
}

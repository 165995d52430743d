// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The identity of a file, from its inode: no file system is asked, so that a
 * server in user space cannot delay a look-up.
 *
 * Change time alone would not do: its grain is a tick, and a store through a
 * shared mapping moves it only when the page was clean. So a file that is
 * open for writing shares nothing, and where the file system keeps a change
 * counter, the counter is part of the identity.
 */
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/iversion.h>
#include <linux/magic.h>
#include <linux/user_namespace.h>
#include "identity.h"

/*
 * A file system whose answers an unprivileged user makes up could give a file
 * the identity of another one: after it is unmounted, its device number and its
 * superblock's address are used again.
 */
static bool is_trusted(const struct super_block *sb)
{
	return sb->s_user_ns == &init_user_ns &&
	       !(sb->s_iflags & SB_I_UNTRUSTED_MOUNTER) &&
	       sb->s_magic != FUSE_SUPER_MAGIC;
}

/*
 * Who a regular file is now. Context: any.
 * Return: true if a table made from the file now may serve every file of the same
 * identity, false if only the one that is asked for.
 */
bool kw_identity_of(struct file *file, struct kw_identity *id)
{
	struct inode *inode = file_inode(file);
	struct timespec64 ctime = inode_get_ctime(inode);
	struct timespec64 mtime = inode_get_mtime(inode);

	static_assert(sizeof(*id) == 64);
	*id = (struct kw_identity) {
		.sb = (uintptr_t)inode->i_sb,
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

/* Whether a user decides how long reading @file takes. */
bool kw_identity_may_hang(struct file *file)
{
	return file_inode(file)->i_sb->s_magic == FUSE_SUPER_MAGIC;
}

/*
 * Whether a read may have to wait for a writer, who can take the bytes from
 * memory that a file server is to fill. A buffered read of ext4 does not wait, one of
 * XFS does, and every direct one. A memfd is mostly open for writing, and needs no lock.
 */
bool kw_identity_may_block(struct file *file)
{
	const struct inode *inode = file_inode(file);

	return file->f_flags & O_DIRECT || (inode_is_open_for_write(inode) &&
					    inode->i_sb->s_magic != TMPFS_MAGIC);
}

/* Whether a mapping of @inode can be what @id was taken from. */
bool kw_identity_is_inode(const struct kw_identity *id, const struct inode *inode)
{
	return id->sb == (uintptr_t)inode->i_sb && id->ino == inode->i_ino &&
	       id->generation == inode->i_generation;
}

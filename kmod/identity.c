// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The identity of a file. It is read from the inode, without a call of the file
 * system, so that a file server in user space cannot delay a look-up.
 *
 * The change time alone does not suffice: its grain is a tick, and a store through a
 * shared mapping moves it only when the page was clean. So a file that is open for
 * writing shares no table. If the file system keeps a change counter, the counter is
 * part of the identity.
 */
#include <linux/build_bug.h>
#include <linux/iversion.h>
#include <linux/magic.h>
#include <linux/user_namespace.h>
#include "compat/fs.h"
#include "identity.h"

/*
 * An unprivileged user who provides a file system can give a file any identity. After
 * the file system is unmounted, the kernel reuses its device number and the address of
 * its superblock, so that the identity could be that of another file.
 */
static bool is_trusted(const struct super_block *sb)
{
	return sb->s_user_ns == &init_user_ns &&
	       !(sb->s_iflags & SB_I_UNTRUSTED_MOUNTER) &&
	       sb->s_magic != FUSE_SUPER_MAGIC;
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

/* Whether a server in user space decides how long a read of @file takes. */
bool kw_identity_may_hang(struct file *file)
{
	return file_inode(file)->i_sb->s_magic == FUSE_SUPER_MAGIC;
}

/*
 * Whether a read of @file may wait for a writer's lock. The writer may hold it for ever:
 * its data can come from memory that a file server never fills. XFS takes the lock for a
 * buffered read, ext4 does not; every direct read takes it. A memfd is usually open for
 * writing, but tmpfs takes no lock.
 */
bool kw_identity_may_block(struct file *file)
{
	const struct inode *inode = file_inode(file);

	return file->f_flags & O_DIRECT || (inode_is_open_for_write(inode) &&
					    inode->i_sb->s_magic != TMPFS_MAGIC);
}

/* Whether @id may have been taken from @inode. */
bool kw_identity_is_inode(const struct kw_identity *id, const struct inode *inode)
{
	return id->sb == (uintptr_t)inode->i_sb && id->ino == inode->i_ino &&
	       id->generation == inode->i_generation;
}

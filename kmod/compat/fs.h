/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Files and inodes. */
#ifndef KW_COMPAT_FS_H
#define KW_COMPAT_FS_H

#include <linux/fs.h>
#include <linux/magic.h>
#include "found.h"

/* Before 6.7 there is no bcachefs. */
#ifndef BCACHEFS_SUPER_MAGIC
#define BCACHEFS_SUPER_MAGIC	0xca451a4e
#endif

/* Before 6.6 and 6.7, an inode's times are members. */
#ifndef KW_HAVE_inode_get_ctime
#define inode_get_ctime(inode)	((inode)->i_ctime)
#endif
#ifndef KW_HAVE_inode_get_mtime
#define inode_get_mtime(inode)	((inode)->i_mtime)
#endif

/*
 * Before 6.8, the file of a mapping on an overlay has the overlay's path and the underlying
 * inode. /proc/PID/maps shows these two.
 */
#ifndef KW_HAVE_file_user_path
#define file_user_path(file)	(&(file)->f_path)
#endif
#ifndef KW_HAVE_file_user_inode
#define file_user_inode(file)	file_inode(file)
#endif

#endif /* KW_COMPAT_FS_H */

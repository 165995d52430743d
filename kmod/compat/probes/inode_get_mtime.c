// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.7, and stable kernels: functions read an inode's times. */
#include <linux/fs.h>

static __maybe_unused struct timespec64 probe(struct inode *inode)
{
	return inode_get_mtime(inode);
}

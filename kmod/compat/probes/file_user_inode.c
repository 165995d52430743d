// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.8: and the user's inode. */
#include <linux/fs.h>

static __maybe_unused const struct inode *probe(const struct file *file)
{
	return file_user_inode(file);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Opening files whose names others chose: regular ones of a disk, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "files.h"

/* Numbers of file systems that <linux/magic.h> does not have, or not on all machines. */
#define CONFIGFS_MAGIC		0x62656570
#define FUNCTIONFS_MAGIC	0x0A647361
#define FUSE_CTL_MAGIC		0x65735543
#define GADGETFS_MAGIC		0xAEE71EE7
#define MQUEUE_MAGIC		0x19800202
#define NFSD_MAGIC		0x6E667364
#define PIDFS_MAGIC		0x50494446
#define RPC_PIPEFS_MAGIC	0x67596969

int kr_file_find_nofollow(const char *path)
{
	char **names = g_strsplit(path, "/", -1);
	int fd = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int next, err = errno;
	size_t i;

	for (i = 0; fd >= 0 && names[i]; i++) {
		if (!*names[i])
			continue;
		/* It finds a link itself, in which there is nothing to find. */
		next = openat(fd, names[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);
		err = errno;
		close(fd);
		fd = next;
	}
	g_strfreev(names);
	errno = err;
	return fd;
}

/*
 * Without opening it. An absolute link below a root leads into it. The links of /proc lead
 * past all names, to what a process has open.
 */
static int find_below(const char *root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = root ? RESOLVE_IN_ROOT : RESOLVE_NO_MAGICLINKS,
	};
	int top = AT_FDCWD, fd, err;

	if (root) {
		top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (top < 0)
			return -1;
	}
	fd = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
	err = errno;
	if (root)
		close(top);
	errno = err;
	/* The sandbox has no openat2(). To follow no link is stricter. */
	return fd < 0 && err == ENOSYS && !root ? kr_file_find_nofollow(path) : fd;
}

/* File systems of the kernel have regular files that are endless, or act when read. */
static bool is_of_disk(int fd)
{
	static const unsigned int kernels[] = {
		AAFS_MAGIC, ANON_INODE_FS_MAGIC, BINDERFS_SUPER_MAGIC, BINFMTFS_MAGIC,
		BPF_FS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, CONFIGFS_MAGIC,
		DEBUGFS_MAGIC, DEVPTS_SUPER_MAGIC, DMA_BUF_MAGIC, EFIVARFS_MAGIC,
		FUNCTIONFS_MAGIC, FUSE_CTL_MAGIC, GADGETFS_MAGIC, MQUEUE_MAGIC, NFSD_MAGIC,
		NSFS_MAGIC, OPENPROM_SUPER_MAGIC, PIDFS_MAGIC, PROC_SUPER_MAGIC, PSTOREFS_MAGIC,
		RDTGROUP_SUPER_MAGIC, RPC_PIPEFS_MAGIC, SECRETMEM_MAGIC, SECURITYFS_MAGIC,
		SELINUX_MAGIC, SMACK_MAGIC, SYSFS_MAGIC, TRACEFS_MAGIC, USBDEVICE_SUPER_MAGIC,
		XENFS_SUPER_MAGIC,
	};
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs))
		return false;
	for (i = 0; i < G_N_ELEMENTS(kernels); i++)
		if ((unsigned int)fs.f_type == kernels[i])
			return false;
	return true;
}

/* Open what was found. */
static int open_found(int found)
{
	int fd = -1, err = EINVAL;
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	struct stat st;

	if (found < 0)
		return -1;
	if (!fstat(found, &st) && S_ISREG(st.st_mode) && is_of_disk(found)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
		/* The owner may hold a lease on it: do not wait until that breaks. */
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		err = errno;
	}
	close(found);
	errno = err;
	return fd;
}

int kr_file_open(const char *root, const char *path)
{
	return open_found(find_below(root, path));
}

int kr_file_open_named(const char *path)
{
	return open_found(open(path, O_PATH | O_CLOEXEC));
}

int kr_file_open_nofollow(const char *path)
{
	return open_found(kr_file_find_nofollow(path));
}

char *kr_file_read_open(int fd, uint64_t most, size_t *length)
{
	GByteArray *bytes = g_byte_array_new();
	guint8 piece[1 << 16];
	ssize_t n = 0;
	int err;

	while (bytes->len <= most && (n = read(fd, piece, sizeof(piece))) > 0)
		g_byte_array_append(bytes, piece, (guint)n);
	err = n > 0 ? EFBIG : errno;
	if (length)
		*length = bytes->len;
	g_byte_array_append(bytes, (const guint8 *)"", 1);
	errno = err;
	return (char *)g_byte_array_free(bytes, n);
}

char *kr_file_read(const char *root, const char *path, uint64_t most, size_t *length)
{
	int fd = kr_file_open(root, path), err;
	char *bytes;

	if (fd < 0)
		return NULL;
	bytes = kr_file_read_open(fd, most, length);
	err = errno;
	close(fd);
	errno = err;
	return bytes;
}

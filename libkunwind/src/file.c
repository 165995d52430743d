// SPDX-License-Identifier: MIT
/* Descriptors that may have become others. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "internal.h"

int kunwind_file_move(int fd)
{
	int moved, err;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	err = errno;
	close(fd);
	errno = err;
	return moved;
}

int kunwind_file_take(struct kunwind_file *file, int fd)
{
	struct stat st;
	int ret;

	*file = (struct kunwind_file) { 0 };
	fd = kunwind_file_move(fd);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	*file = (struct kunwind_file) { .fd = fd, .dev = st.st_dev, .ino = st.st_ino };
	return 0;
}

int kunwind_file_is_own(const struct kunwind_file *file)
{
	struct stat st;
	/* What fstat() calls; it would set errno. */
	long ret = kunwind_syscall(SYS_newfstatat, file->fd, (long)"", (long)&st, AT_EMPTY_PATH);

	return file->ino && !ret && st.st_dev == file->dev && st.st_ino == file->ino;
}

int kunwind_file_may_have(uint64_t size)
{
	struct rlimit64 limit;
	long ret = kunwind_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit);

	return !ret && size <= limit.rlim_cur;
}

void kunwind_file_close(struct kunwind_file *file)
{
	if (kunwind_file_is_own(file))
		close(file->fd);
	*file = (struct kunwind_file) { 0 };
}

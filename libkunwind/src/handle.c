// SPDX-License-Identifier: MIT
/* Opens and closes the device. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "file.h"
#include "internal.h"
#include "libkunwind.h"

#define DEVICE		"/dev/kunwind"
/* The oldest that works; kunwind_backtrace_thread() needs version 2, and says so. */
#define OLDEST_ABI	1

static int check_version(int fd)
{
	struct kunwind_version version = { .size = sizeof(version) };
	long ret = kunwind_ioctl(fd, KUNWIND_IOC_VERSION, &version);

	/* Another device does not know the request. */
	if (ret == -ENOTTY || ret == -EINVAL)
		return -EPROTO;
	if (ret < 0)
		return ret;
	/* A later module has all requests of this version, unchanged. */
	return version.abi >= OLDEST_ABI ? 0 : -EPROTO;
}

static int open_device(void)
{
	int fd = kunwind_file_move(open(DEVICE, O_RDONLY | O_CLOEXEC));

	if (fd >= 0)
		return fd;
	/* ENXIO: a user made the node by hand, and the module is not loaded. */
	if (errno == ENOENT || errno == ENXIO || errno == ENOTDIR)
		return -ENODEV;
	return -errno;
}

EXPORT int kunwind_open(struct kunwind_handle **handle)
{
	int saved_errno = errno;
	struct kunwind_handle *h;
	int ret;

	if (!handle)
		return -EINVAL;
	*handle = NULL;

	h = malloc(sizeof(*h));
	if (!h) {
		ret = -ENOMEM;
		goto out_errno;
	}
	h->fd = open_device();
	if (h->fd < 0) {
		ret = h->fd;
		goto out_free;
	}
	ret = check_version(h->fd);
	if (ret < 0)
		goto out_close;
	*handle = h;
	goto out_errno;

out_close:
	close(h->fd);
out_free:
	free(h);
out_errno:
	errno = saved_errno;
	return ret;
}

EXPORT void kunwind_close(struct kunwind_handle *handle)
{
	int saved_errno = errno;

	if (!handle)
		return;
	close(handle->fd);
	free(handle);
	errno = saved_errno;
}

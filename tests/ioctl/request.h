/* SPDX-License-Identifier: MIT */
/* What the tests of the ioctl share. */
#ifndef KUNWIND_REQUEST_H
#define KUNWIND_REQUEST_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout.h"
#include "tap.h"

#define DEVICE		"/dev/kunwind"
#define PAGE		4096u

#define NOINLINE	__attribute__((noinline))

struct request {
	struct kunwind_stack stack;
	struct kunwind_frame frames[2048];
};

/* libc's ioctl() would be one frame more, and errno a detour. */
static inline __attribute__((always_inline))
long raw_ioctl(int file, unsigned long number, const void *arg)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"((long)SYS_ioctl), "D"((long)file), "S"(number), "d"(arg)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline void expect(long got, long want, const char *what)
{
	if (!tap_ok(got == want, "%s: %s", what, want ? strerrorname_np(-want) : "0"))
		tap_diag("got %ld (%s)", got, got < 0 ? strerror(-got) : "no error");
}

static inline struct kunwind_stack good_stack(uint32_t capacity)
{
	return (struct kunwind_stack) {
		.size = sizeof(struct kunwind_stack),
		.capacity = capacity,
	};
}

/* Or the end of the test, if it is not there. */
static inline int open_device(void)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO))
		tap_skip_all("no /dev/kunwind: load the module, or ./run.sh test vm");
	if (fd < 0)
		tap_bail("%s: %s", DEVICE, strerror(errno));
	return fd;
}

#endif /* KUNWIND_REQUEST_H */

/* SPDX-License-Identifier: MIT */
/* Shared by the files of the library. */
#ifndef LIBKUNWIND_INTERNAL_H
#define LIBKUNWIND_INTERNAL_H

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kunwind.h>

#define EXPORT		__attribute__((visibility("default")))

struct kunwind_handle {
	int fd;
};

/* The kernel writes the frames after its structure, so the library need not copy them. */
struct kunwind_bt {
	struct kunwind_stack stack;
	struct kunwind_frame frames[];
};

_Static_assert(offsetof(struct kunwind_bt, frames) ==
	       sizeof(struct kunwind_stack), "the frames follow the structure");

/*
 * The function that calls this makes the system call itself, without libc's ioctl(). So
 * the number of frames between the library's caller and the kernel is known, errno stays as
 * it is, and no interposed ioctl() can come in between.
 */
static inline __attribute__((always_inline))
long kunwind_ioctl(int fd, unsigned long request, void *arg)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"((long)__NR_ioctl), "D"((long)fd), "S"(request),
			   "d"(arg)
			 : "rcx", "r11", "memory");
	return ret;
#else
#error "libkunwind: only x86-64 is supported"
#endif
}

#endif /* LIBKUNWIND_INTERNAL_H */

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

/*
 * The kernel writes the frames after its structure, so the library need not copy them. The
 * structures of both requests end where the frames begin. @stack is the result of both.
 */
struct kunwind_bt {
	union {
		struct kunwind_thread thread;
		struct {
			uint32_t state;
			uint32_t unused;
			struct kunwind_stack stack;
		};
	};
	struct kunwind_frame frames[];
};

_Static_assert(offsetof(struct kunwind_bt, frames) ==
	       offsetof(struct kunwind_bt, stack) + sizeof(struct kunwind_stack) &&
	       offsetof(struct kunwind_bt, frames) == sizeof(struct kunwind_thread),
	       "the frames follow the structures");

void kunwind_make_empty(struct kunwind_bt *bt);

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

/*
 * Any system call, without libc. In a signal handler, errno stays as it is, and no thread is
 * cancelled. Return: as the kernel does, a negative errno after an error.
 */
static inline long kunwind_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long kunwind_syscall(long number, long a, long b, long c, long d)
{
	return kunwind_syscall6(number, a, b, c, d, 0, 0);
}

#endif /* LIBKUNWIND_INTERNAL_H */

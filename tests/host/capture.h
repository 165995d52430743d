/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program's own registers and stack, for walks of itself. */
#ifndef HOST_CAPTURE_H
#define HOST_CAPTURE_H

#include <pthread.h>
#include "kunwind_port.h"

/*
 * The registers of the function that this is expanded in, into a struct
 * kuw_port_regs: those that a call preserves, rsp and rip. That is never the byte before
 * an aligned one, which the cache would not keep if no call were there (kuw_is_called()):
 * benchmarks would differ by chance.
 */
#define CAPTURE(regs) \
	__asm__ volatile(".balign 16\n\t" \
			 "lea 0(%%rip), %%rax\n\t" \
			 "mov %%rax, 128(%0)\n\t" \
			 "mov %%rsp, 56(%0)\n\t" \
			 "mov %%rbp, 48(%0)\n\t" \
			 "mov %%rbx, 24(%0)\n\t" \
			 "mov %%r12, 96(%0)\n\t" \
			 "mov %%r13, 104(%0)\n\t" \
			 "mov %%r14, 112(%0)\n\t" \
			 "mov %%r15, 120(%0)\n\t" \
			 : : "r"(regs) : "rax", "memory")

/*
 * The stack is all that may be read: a frame pointer can be anything at its
 * end. Return: 0, or -1.
 */
static inline int capture_window(void)
{
	pthread_attr_t attr;
	size_t len;
	void *lo;

	if (pthread_getattr_np(pthread_self(), &attr))
		return -1;
	pthread_attr_getstack(&attr, &lo, &len);
	pthread_attr_destroy(&attr);
	kuw_port_set_window((u64)lo, len, 0);
	return 0;
}

#endif /* HOST_CAPTURE_H */

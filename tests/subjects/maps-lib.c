// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A library that says who it is: mark() makes a system call, from its own code,
 * whose argument is the library's NUMBER. Built with several, of one size each.
 */
#include <sys/syscall.h>

long mark(long step)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(SYS_getpriority), "D"(1000L + NUMBER), "S"(step)
			 : "rcx", "r11", "memory");
	return ret;
}

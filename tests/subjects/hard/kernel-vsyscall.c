// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A program for i386 makes its system calls in the vDSO's __kernel_vsyscall(), whose
 * CFI says what it pushes before the instruction: the innermost frame is there.
 *
 * entry getppid: [vdso] call_kernel main ... _start
 * exit getppid: [vdso] call_kernel main ... _start
 */
#include <sys/auxv.h>
#include "hard.h"

FRAME static void call_kernel(unsigned long vsyscall)
{
	long ret;

	__asm__ volatile("call *%1" : "=a"(ret) : "r"(vsyscall), "0"((long)SYS_getppid)
			 : "memory");
	if (ret != getppid())
		errx(1, "getppid gave %ld", ret);
}

int main(void)
{
	unsigned long vsyscall = getauxval(AT_SYSINFO);

	if (!vsyscall)
		errx(1, "there is no AT_SYSINFO");
	call_kernel(vsyscall);
	report();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * _start in C, whose unwind information is that of any function: argc is where its return address
 * would be.
 */

static volatile int sum;

__attribute__((noinline)) static void work(int n)
{
	if (n)
		work(n - 1);
	sum += n;
}

void _start(void)
{
	work(5);
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
	__builtin_unreachable();
}

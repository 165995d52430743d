// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A function that realigns its stack, and has a frame pointer, as GCC makes it for vectors next to
 * alloca(). Its CFI does not say that it has given rbp back. Its callers have frame pointers.
 */
#include <alloca.h>
#include <string.h>
#include <unistd.h>

typedef int vector __attribute__((vector_size(32)));

__attribute__((noinline)) static int realigned(int n)
{
	volatile vector v = { n };
	char *p = alloca(n * 8 + 32);

	memset(p, n, n * 8);
	getppid();
	return p[n] + v[0];
}

__attribute__((noinline)) static int caller(int n)
{
	return realigned(n) + 1;
}

__attribute__((noinline)) static int outer(int n)
{
	return caller(n) + 1;
}

int main(void)
{
	int i, sum = 0;

	for (i = 1; i < 10; i++)
		sum += outer(i);
	return !sum;
}

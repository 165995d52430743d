// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A function writes zeros beyond a variable: over the registers that it has saved, and over its
 * return address.
 */
#include <string.h>
#include <unistd.h>

static volatile long values[6];

__attribute__((noinline)) static void f(size_t size)
{
	char small[16];
	long a = values[0], b = values[1], c = values[2];
	long d = values[3], e = values[4], g = values[5];

	memset(small, 0, size);
	getppid();
	values[0] = a * b;
	values[1] = b * c;
	values[2] = c * d;
	values[3] = d * e;
	values[4] = e * g;
	values[5] = g * a + small[3];
	getppid();
	_exit(0);
}

int main(int argc, char **argv)
{
	(void)argv;
	f(24 + 88 * (size_t)argc);
	return 0;
}

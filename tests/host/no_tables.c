// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Code as a program has it that is built without unwind tables and frame pointers. */
#include "no_tables.h"

/* GCC keeps the sum in rbp. */
unsigned long add_up(unsigned long n, unsigned long (*f)(unsigned long i, void *arg), void *arg)
{
	unsigned long sum = 0, i;

	for (i = 0; i < n; i++)
		sum += f(i, arg);
	return sum;
}

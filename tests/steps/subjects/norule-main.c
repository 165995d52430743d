// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Has a table, and is called back by code that has none (norule.c). */
#include <stdio.h>

typedef long (*step_fn)(long, void *);

long sum_without_table(step_fn step, long n, void *arg);
long count_without_table(step_fn step, long n, void *arg);

static __attribute__((noinline)) long zero(long n, void *arg)
{
	*(long *)arg += n;
	return 0;
}

static __attribute__((noinline)) long one(long n, void *arg)
{
	return n ? zero(n, arg) + 1 : sum_without_table(zero, 3, arg) + 1;
}

int main(void)
{
	long seen = 0;

	return printf("%ld %ld %ld\n", sum_without_table(zero, 9, &seen),
		      count_without_table(one, 9, &seen), seen) < 0;
}

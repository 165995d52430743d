// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Built without a table and without frame pointers, as musl is: a loop keeps
 * its sum, or its pointer, in rbp, which is 0 at times.
 */
typedef long (*step_fn)(long, void *);

long sum_without_table(step_fn step, long n, void *arg);
long count_without_table(step_fn step, long n, void *arg);

__attribute__((noinline)) long sum_without_table(step_fn step, long n, void *arg)
{
	long i, sum = 0;

	for (i = 0; i < n; i++)
		sum += step(i, arg);
	return sum;
}

__attribute__((noinline)) long count_without_table(step_fn step, long n, void *arg)
{
	long left;

	for (left = n; left >= 0; left--)
		if (step(left, arg) < 0)
			return -1;
	return sum_without_table(step, n, arg) + left;
}

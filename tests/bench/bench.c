// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * bench [--quick] [FILE ...]
 *
 * What a walk and a table cost, beside others in the same run. Pinned to a CPU;
 * medians. A ratio means something on a busy machine, a nanosecond little.
 */
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench.h"

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t bench_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int compare(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] :
		(values[count / 2 - 1] + values[count / 2]) / 2;
}

static void pin(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	int quick = 0, ret;

	argv++;
	argc--;
	if (argc && !strcmp(*argv, "--quick")) {
		quick = 1;
		argv++;
		argc--;
	}
	if (argc && **argv == '-') {
		fputs("usage: bench [--quick] [FILE ...]\n", stderr);
		return 2;
	}
	pin();
	/* Compilations reuse memory, so that none of them pays for new pages. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	ret = bench_walk(quick);
	return bench_tables(quick, argc ? argv : NULL) || ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * bench [--quick] walk
 * bench [--quick] lookup FILE
 * bench [--quick] table NAME=FILE ...
 * bench count METHOD warm|cold PASSES WALKS
 *
 * What a walk, a look-up and a table cost, next to others in the same run, pinned
 * to a CPU: samples, a line each. tests/bench/report makes tables of them.
 *
 * Exit status: 0; 1 if something fails; 2 for a wrong command line; BENCH_NO_TABLE
 * if no table can be made of a FILE.
 */
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
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

void bench_say(double value, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\t%.3f\n", value);
}

static void pin(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int usage(void)
{
	fputs("usage: bench [--quick] walk\n"
	      "       bench [--quick] lookup FILE\n"
	      "       bench [--quick] table NAME=FILE ...\n"
	      "       bench count METHOD warm|cold PASSES WALKS\n", stderr);
	return 2;
}

static int tables(int quick, char **names)
{
	int ret = 0, one;

	for (; *names; names++) {
		char *path = strchr(*names, '=');

		if (!path)
			return usage();
		*path++ = 0;
		one = bench_table(quick, *names, path);
		/* Worse than a file without a table is a failure. */
		if (one && ret != 1)
			ret = one;
	}
	return ret;
}

int main(int argc, char **argv)
{
	int quick = argc > 1 && !strcmp(argv[1], "--quick");

	argv += 1 + quick;
	argc -= 1 + quick;
	pin();
	/* Compilations reuse memory, so that none of them pays for new pages. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	if (argc == 1 && !strcmp(*argv, "walk"))
		return bench_walk(quick);
	if (argc == 2 && !strcmp(*argv, "lookup"))
		return bench_lookup(quick, argv[1]);
	if (argc == 5 && !strcmp(*argv, "count"))
		return bench_count(argv[1], !strcmp(argv[2], "cold"),
				   atoi(argv[3]), atoi(argv[4]));
	if (argc > 1 && !strcmp(*argv, "table"))
		return tables(quick, argv + 1);
	return usage();
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The size of tables, and the time to compile them. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include "bench.h"
#include "load.h"

/* What a Debian machine is likely to have; the first match of each. */
static const char *const usual[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.*",
	"/usr/bin/bash",
	"/usr/bin/python3.*[0-9]",
	"/usr/bin/perl",
	"/usr/bin/git",
	"/usr/bin/gdb",
	"/usr/bin/node",
	"/usr/bin/qemu-system-x86_64",
	"/usr/lib/x86_64-linux-gnu/libLLVM-*.so.*",
	"/usr/lib/x86_64-linux-gnu/libclang-cpp.so.*",
};

struct sums {
	double percents[256];
	double ns[256];
	size_t count;
};

/* Return: ns per row, the median of several compilations. */
static double time_compile(struct host_table *t, int quick)
{
	double ns[15];
	int runs = quick ? 3 : 15, i;

	for (i = 0; i < runs; i++) {
		uint64_t start = bench_cpu_ns();

		free(t->table);
		t->table = NULL;
		if (host_compile(t, HOST_DOUBLE))
			return 0;
		ns[i] = (double)(bench_cpu_ns() - start);
	}
	return bench_median(ns, (size_t)runs) / t->table->nr_rows;
}

static void one(const char *path, int quick, struct sums *sums)
{
	struct host_table t;
	double percent, ns;
	int ret = host_load_file(&t, path, HOST_DOUBLE);

	if (ret) {
		printf("%-48s %s: %s\n", path, t.stage, strerror(-ret));
		host_table_free(&t);
		return;
	}
	ns = time_compile(&t, quick);
	percent = 100. * (double)t.bytes / t.elf.eh_frame.len;
	printf("%-48s %9u %10u %10llu %6.1f %7.1f %9.1f\n", path,
	       t.table->nr_rows, t.elf.eh_frame.len,
	       (unsigned long long)t.bytes, percent,
	       (double)t.bytes / t.table->nr_rows, ns);
	fflush(stdout);
	if (sums->count < 256) {
		sums->percents[sums->count] = percent;
		sums->ns[sums->count++] = ns;
	}
	host_table_free(&t);
}

static void first_match(const char *pattern, int quick, struct sums *sums)
{
	glob_t found;

	if (!glob(pattern, 0, NULL, &found))
		one(found.gl_pathv[0], quick, sums);
	globfree(&found);
}

int bench_tables(int quick, char **files)
{
	static struct sums sums;
	size_t i;

	printf("tables\n%-48s %9s %10s %10s %6s %7s %9s\n", "", "rows",
	       ".eh_frame", "table", "%", "B/row", "ns/row");
	if (files)
		for (; *files; files++)
			one(*files, quick, &sums);
	else
		for (i = 0; i < ARRAY_SIZE(usual); i++)
			first_match(usual[i], quick, &sums);
	if (!sums.count)
		return 1;
	printf("%-48s %9s %10s %10s %6.1f %7s %9.1f\n", "median", "", "", "",
	       bench_median(sums.percents, sums.count), "",
	       bench_median(sums.ns, sums.count));
	/* bench_median() has sorted them. */
	printf("%-48s %9s %10s %10s %6.1f %7s %9.1f\n", "worst", "", "", "",
	       sums.percents[sums.count - 1], "", sums.ns[sums.count - 1]);
	return 0;
}

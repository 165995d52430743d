/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_FUNCTIONS	132
#define BENCH_MAX_DEPTH	512

typedef long (*bench_leaf)(void *arg);
typedef long (*bench_function)(long depth, long at, bench_leaf leaf, void *arg);

/*
 * The same functions, compiled twice: as a distribution does, and with frame
 * pointers. Each calls the next one, and the last one of @depth calls @leaf.
 */
extern const bench_function bench_plain[BENCH_FUNCTIONS];
extern const bench_function bench_fp[BENCH_FUNCTIONS];

/* Wall time, cheap to read; CPU time, for what takes long enough. */
uint64_t bench_ns(void);
uint64_t bench_cpu_ns(void);

/* Return: the median; sorts @values. */
double bench_median(double *values, size_t count);

/* Each prints its table. */
int bench_walk(int quick);
int bench_tables(int quick, char **files);

#endif /* BENCH_BENCH_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_FUNCTIONS	132
#define BENCH_SITES	10000
#define BENCH_MAX_DEPTH	512

typedef long (*bench_leaf)(void *arg);
typedef long (*bench_function)(long depth, long at, bench_leaf leaf, void *arg);

/*
 * The same functions, compiled twice: as a distribution does, and with frame
 * pointers. Each calls the next one, and the last one of @depth calls @leaf. That of
 * BENCH_RECURSION calls itself.
 */
#define BENCH_RECURSION	BENCH_FUNCTIONS

/*
 * @at: of a stack that begins with function @first, and whose next one is each time
 * @stride further. A plain index is one of stride 1.
 */
#define BENCH_AT(first, stride)	((long)(first) | (long)((stride) - 1) << 8)
#define BENCH_INDEX(at)		((at) & 255)
#define BENCH_NEXT(at) \
	((BENCH_INDEX(at) + ((at) >> 8) + 1) % BENCH_FUNCTIONS | ((at) & ~255L))

extern const bench_function bench_plain[BENCH_FUNCTIONS + 1];
extern const bench_function bench_fp[BENCH_FUNCTIONS + 1];

/* Calls @leaf once from each of BENCH_SITES different places. Also twice. */
void bench_plain_sites(bench_leaf leaf, void *arg);
void bench_fp_sites(bench_leaf leaf, void *arg);

/* One way to walk the stack of the calling thread. */
struct bench_method {
	const char *name;
	/* Return: how many frames. */
	int (*walk)(void **frames, int capacity);
	const bench_function *functions;
	void (*sites)(bench_leaf leaf, void *arg);
	/* A walk takes so much longer than others that it need not repeat. */
	int slow;
};

/* The first one is the floor. */
extern const struct bench_method bench_methods[];
extern const size_t bench_nr_methods;

/* In the thread that walks, before the first one. Return: 0, or -1. */
int bench_methods_open(void);
void bench_methods_close(void);

/* Wall time, cheap to read; CPU time, for what takes long enough. */
uint64_t bench_ns(void);
uint64_t bench_cpu_ns(void);

/*
 * A line of output: the key of a figure, and one sample of it. The reader
 * takes the median; samples of the same number were taken side by side.
 */
void bench_say(double value, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A file has no unwind information, or is no such file: as a test that is skipped. */
#define BENCH_NO_TABLE	77

/* Each: 0, 1 if something that should be there is not, or BENCH_NO_TABLE. */
int bench_walk(int quick);
/*
 * Not timed, for a tool that counts what it does: @passes times @walks walks, of depth
 * 64, and before each pass caches are evicted if @cold. Says how many frames.
 */
int bench_count(const char *method, int cold, int passes, int walks);
int bench_lookup(int quick, const char *path);
int bench_table(int quick, const char *name, const char *path);

#endif /* BENCH_BENCH_H */

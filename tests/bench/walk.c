// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ns per frame of a walk, from inside a stack of known depth: kunwind's walk of
 * core/, a walk by frame pointer (the floor) and what users have today.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "capture.h"
#include "load.h"
#include "memo.h"
#include "walk.h"

#define EVICT_BYTES	(48u << 20)
#define EXTRA		64

struct method {
	const char *name;
	/* Return: how many frames. */
	int (*walk)(void **frames, int capacity);
	const bench_function *functions;
	int slow;
};

struct run {
	const struct method *method;
	int walks;
	int cold;
	int frames;
	double ns;
};

static struct host_space space;
static struct kuw_memo memo;
static int (*libc_backtrace)(void **, int);
static unsigned char *evict;
static volatile unsigned long sink;

static int walk_kunwind(void **frames, int capacity)
{
	struct kuw_port_regs regs;
	struct kuw_result result;

	CAPTURE(&regs);
	kuw_walk(space.map, &memo, &regs, (u64 *)frames, (u32)capacity,
		 &result);
	return (int)result.count;
}

/* As after other walks than this one: the memo knows nothing that helps. */
static int walk_no_memo(void **frames, int capacity)
{
	space.map->number++;
	return walk_kunwind(frames, capacity);
}

/*
 * The same checks of each address as the kernel's own walk makes. This file is
 * compiled with frame pointers.
 */
static int walk_fp(void **frames, int capacity)
{
	u64 fp = (u64)__builtin_frame_address(0), next, ra;
	int n = 0;

	frames[n++] = __builtin_return_address(0);
	while (n < capacity) {
		if (fp & 7 || kuw_port_read(fp, &next) ||
		    kuw_port_read(fp + 8, &ra))
			break;
		frames[n++] = (void *)ra;
		if (next <= fp)
			break;
		fp = next;
	}
	return n;
}

static int walk_unw_backtrace(void **frames, int capacity)
{
	return unw_backtrace(frames, capacity);
}

static int walk_unw_step(void **frames, int capacity)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	int n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		frames[n++] = (void *)ip;
	} while (n < capacity && unw_step(&cursor) > 0);
	return n;
}

static int walk_libc(void **frames, int capacity)
{
	return libc_backtrace(frames, capacity);
}

static const struct method methods[] = {
	{ "frame pointers (the floor)", walk_fp, bench_fp, 0 },
	{ "kunwind", walk_kunwind, bench_plain, 0 },
	{ "kunwind, memo empty", walk_no_memo, bench_plain, 0 },
	{ "kunwind, program with frame pointers", walk_kunwind, bench_fp, 0 },
	{ "libunwind unw_backtrace", walk_unw_backtrace, bench_plain, 0 },
	{ "glibc backtrace", walk_libc, bench_plain, 1 },
	{ "libunwind unw_step", walk_unw_step, bench_plain, 1 },
};

static void evict_caches(void)
{
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < EVICT_BYTES; i += 64)
		sum += evict[i]++;
	sink = sum;
}

static long leaf(void *arg)
{
	void *frames[BENCH_MAX_DEPTH + EXTRA];
	struct run *run = arg;
	int (*walk)(void **, int) = run->method->walk;
	double samples[64];
	uint64_t start;
	int i;

	run->frames = walk(frames, BENCH_MAX_DEPTH + EXTRA);
	if (run->cold) {
		for (i = 0; i < run->walks && i < 64; i++) {
			evict_caches();
			start = bench_ns();
			walk(frames, BENCH_MAX_DEPTH + EXTRA);
			samples[i] = (double)(bench_ns() - start);
		}
		run->ns = bench_median(samples, (size_t)i);
	} else {
		start = bench_cpu_ns();
		for (i = 0; i < run->walks; i++)
			walk(frames, BENCH_MAX_DEPTH + EXTRA);
		run->ns = (double)(bench_cpu_ns() - start) / run->walks;
	}
	return 0;
}

/* The median over stacks that begin with different functions. */
static double measure(const struct method *method, int depth, int cold,
		      int quick, int *frames)
{
	int stacks = cold ? 3 : quick ? 11 : 33, i;
	double values[33];

	for (i = 0; i < stacks; i++) {
		struct run run = { .method = method, .cold = cold };
		long at = i * BENCH_FUNCTIONS / stacks;

		run.walks = cold ? (quick ? 8 : 32) :
			(method->slow ? 4000 : 100000) / depth /
			(quick ? 4 : 1) + 1;
		method->functions[at](depth, at, leaf, &run);
		/* Per frame, those below and above the stack included. */
		values[i] = run.ns / run.frames;
		*frames = run.frames;
	}
	return bench_median(values, (size_t)stacks);
}

static void print_table(int depth, int cold, int quick)
{
	double floor = 0;
	size_t i;

	printf("walk, %s, depth %d of %d functions\n%-38s %8s %10s %9s\n",
	       cold ? "CPU caches cold" : "warm", depth, BENCH_FUNCTIONS,
	       "", "frames", "ns/frame", "x floor");
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		int frames = 0;
		double ns = measure(&methods[i], depth, cold, quick, &frames);

		if (!i)
			floor = ns;
		printf("%-38s %8d %10.1f %9.1f\n", methods[i].name, frames, ns,
		       ns / floor);
		fflush(stdout);
	}
	printf("\n");
}

int bench_walk(int quick)
{
	/* -lunwind has a backtrace() of its own. */
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	static const int depths[] = { 8, 64, 512 };
	size_t i;

	if (libc)
		*(void **)&libc_backtrace = dlsym(libc, "backtrace");
	evict = malloc(EVICT_BYTES);
	if (!libc_backtrace || !evict) {
		fputs("bench: no backtrace() in libc\n", stderr);
		return 1;
	}
	memset(evict, 1, EVICT_BYTES);
	/* It loads libgcc_s when it is first called: before the map is made. */
	libc_backtrace((void *[1]){ NULL }, 1);
	if (host_space_of(&space, 0)) {
		fputs("bench: no address map\n", stderr);
		return 1;
	}
	if (capture_window()) {
		fputs("bench: no stack\n", stderr);
		return 1;
	}
	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		if (!quick || depths[i] == 64)
			print_table(depths[i], 0, quick);
	print_table(64, 1, quick);
	free(evict);
	host_space_free(&space);
	return 0;
}

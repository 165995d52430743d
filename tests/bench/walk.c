// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ns of a walk, from inside a stack of known depth. All methods take turns, a
 * short piece each, so that what else the machine does meets all of them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

/* More than caches have: on machines whose last one is shared, L1 and L2. */
#define EVICT_BYTES	(48u << 20)
#define EXTRA		64

enum state {
	WARM,
	COLD,		/* CPU caches without any of it */
	OTHERS,		/* the method has met BENCH_SITES other addresses */
};

static const char *const states[] = { "warm", "cold", "others" };

struct run {
	const struct bench_method *method;
	enum state state;
	int walks;
	int frames;
	double ns;
};

static unsigned char *evict;
static volatile unsigned long sink;

static void evict_caches(void)
{
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < EVICT_BYTES; i += 64)
		sum += evict[i]++;
	sink = sum;
}

static long one_walk(void *arg)
{
	const struct bench_method *method = arg;
	void *frames[BENCH_MAX_DEPTH + EXTRA];

	return method->walk(frames, BENCH_MAX_DEPTH + EXTRA);
}

static long leaf(void *arg)
{
	void *frames[BENCH_MAX_DEPTH + EXTRA];
	struct run *run = arg;
	int (*walk)(void **, int) = run->method->walk;
	uint64_t start;
	int i;

	if (run->state == WARM) {
		run->frames = walk(frames, BENCH_MAX_DEPTH + EXTRA);
		start = bench_cpu_ns();
		for (i = 0; i < run->walks; i++)
			walk(frames, BENCH_MAX_DEPTH + EXTRA);
		run->ns = (double)(bench_cpu_ns() - start) / run->walks;
		return 0;
	}
	if (run->state == COLD) {
		walk(frames, BENCH_MAX_DEPTH + EXTRA);
		evict_caches();
	}
	start = bench_ns();
	run->frames = walk(frames, BENCH_MAX_DEPTH + EXTRA);
	run->ns = (double)(bench_ns() - start);
	return 0;
}

static void rounds(int depth, int levels, enum state state, int quick)
{
	int nr = quick ? 5 : state == OTHERS ? 9 : 33, round;
	size_t i;

	for (round = 0; round < nr; round++) {
		long at = round * BENCH_FUNCTIONS / nr;

		for (i = 0; i < bench_nr_methods; i++) {
			const struct bench_method *m = &bench_methods[i];
			struct run run = { .method = m, .state = state };

			run.walks = (m->slow ? 2000 : 50000) / depth /
				(quick ? 4 : 1) + 1;
			if (state == OTHERS) {
				m->functions[at](levels, at, one_walk, (void *)m);
				m->sites(one_walk, (void *)m);
			}
			m->functions[at](levels, at, leaf, &run);
			bench_say(run.ns, "walk.%s.%s.%d", m->name,
				  states[state], depth);
			bench_say(run.frames, "walk_frames.%s.%s.%d", m->name,
				  states[state], depth);
		}
	}
	fflush(stdout);
}

/* In a thread of its own, whose stack has few frames below the functions. */
static void *walks(void *arg)
{
	static const int depths[] = { 8, 16, 32, 64, 128, 512 };
	int quick = *(int *)arg, outer;
	size_t i;

	if (bench_methods_open())
		return arg;
	/* Without the one function; rounds() is there instead of one_walk(). */
	outer = bench_methods[1].functions[0](1, 0, one_walk,
					      (void *)&bench_methods[1]) - 1;
	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		int levels = depths[i] - outer;

		if (levels < 1) {
			fputs("bench: the stack has too many frames\n", stderr);
			return arg;
		}
		rounds(depths[i], levels, WARM, quick);
		rounds(depths[i], levels, COLD, quick);
		if (depths[i] == 64)
			rounds(depths[i], levels, OTHERS, quick);
	}
	bench_methods_close();
	return NULL;
}

int bench_walk(int quick)
{
	void *failed = NULL;
	pthread_t thread;

	evict = malloc(EVICT_BYTES);
	if (!evict)
		return 1;
	memset(evict, 1, EVICT_BYTES);
	if (pthread_create(&thread, NULL, walks, &quick) ||
	    pthread_join(thread, &failed))
		return 1;
	free(evict);
	return failed != NULL;
}

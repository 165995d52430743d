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
	AGAIN,		/* after that one: caches have it, branches are forgotten */
	RECURSION,	/* warm; all functions are the same one */
	NR_STATES
};

static const char *const states[NR_STATES] = {
	"warm", "cold", "others", "again", "recursion"
};

struct run {
	const struct bench_method *method;
	enum state state;
	int walks;
	int frames;
	double ns[NR_STATES];
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

/* Part of leaf(): the stack has the depth that it is for. */
#define IN_LEAF	static inline __attribute__((always_inline))

/* Return: the ns of a single walk. */
IN_LEAF double time_walk(struct run *run)
{
	void *frames[BENCH_MAX_DEPTH + EXTRA];
	uint64_t start = bench_ns();

	run->frames = run->method->walk(frames, BENCH_MAX_DEPTH + EXTRA);
	return (double)(bench_ns() - start);
}

IN_LEAF double time_walks(struct run *run)
{
	void *frames[BENCH_MAX_DEPTH + EXTRA];
	uint64_t start;
	int i;

	time_walk(run);
	start = bench_cpu_ns();
	for (i = 0; i < run->walks; i++)
		run->method->walk(frames, BENCH_MAX_DEPTH + EXTRA);
	return (double)(bench_cpu_ns() - start) / run->walks;
}

static long leaf(void *arg)
{
	struct run *run = arg;

	switch (run->state) {
	case COLD:
		time_walk(run);
		evict_caches();
		run->ns[COLD] = time_walk(run);
		break;
	case OTHERS:
		run->ns[OTHERS] = time_walk(run);
		run->ns[AGAIN] = time_walk(run);
		break;
	default:
		run->ns[run->state] = time_walks(run);
		break;
	}
	return 0;
}

static void say(const struct run *run, enum state state, int depth)
{
	const char *name = run->method->name;

	bench_say(run->ns[state], "walk.%s.%s.%d", name, states[state], depth);
	bench_say(run->frames, "walk_frames.%s.%s.%d", name, states[state], depth);
}

static void rounds(int depth, int levels, enum state state, int quick)
{
	int nr = quick ? 5 : state == OTHERS ? 17 : 33, round;
	size_t i;

	for (round = 0; round < nr; round++) {
		long at = state == RECURSION ? BENCH_RECURSION :
			  round * BENCH_FUNCTIONS / nr;

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
			say(&run, state, depth);
			if (state == OTHERS)
				say(&run, AGAIN, depth);
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
		if (depths[i] == 64) {
			rounds(depths[i], levels, OTHERS, quick);
			rounds(depths[i], levels, RECURSION, quick);
		}
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

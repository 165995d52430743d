// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ns of a walk, from inside a stack of known depth. All methods take turns, a
 * short piece each, so that what else the machine does meets all of them.
 *
 * A walk that is timed has the same addresses as those that went before it: there
 * is one call in leaf() that walks, and one in measure() that leads there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

/* More than caches have: on machines whose last one is shared, L1 and L2. */
#define EVICT_BYTES	(48u << 20)
#define EXTRA		64
#define STACKS		100
/* Always a frame of its own. */
#define KEEP		__attribute__((noinline, noclone))

/*
 * Where a single walk is timed, the time of an empty pair of clock readings, by the
 * same code and in the same state, is printed next to it. The reader subtracts.
 */
enum state {
	WARM,
	COLD,		/* CPU caches without any of it */
	/*
	 * The method has met BENCH_SITES other addresses since it walked this
	 * stack. Then the program calls all functions of the stack again, so the
	 * stack is in the nearest cache, and their code is: what the method keeps
	 * is not, nor does the processor know its branches any more.
	 */
	OTHERS,
	AGAIN,		/* after that one: caches have it, branches are forgotten */
	RECURSION,	/* warm; all functions are the same one */
	INTERLEAVED,	/* one of STACKS that take turns, and were all walked before */
	NR_STATES
};

static const char *const states[NR_STATES] = {
	"warm", "cold", "others", "again", "recursion", "interleaved"
};

/* What leaf() does: some passes, each of some walks. */
struct run {
	const struct bench_method *method;
	int passes;
	int walks[2];	/* 0: the empty pair */
	int cold;	/* before this pass caches are evicted; 0: never */
	int frames;
	double ns[2];	/* a walk of each pass */
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

static KEEP long leaf(void *arg)
{
	struct run *run = arg;
	int (*walk)(void **frames, int capacity) = run->method->walk;
	void *frames[BENCH_MAX_DEPTH + EXTRA];
	int pass;

	for (pass = 0; pass < run->passes; pass++) {
		int walks = run->walks[pass], count = 0, i;
		/* CPU time, where it is long enough for that. */
		uint64_t (*clock)(void) = walks > 1 ? bench_cpu_ns : bench_ns;
		uint64_t start;

		if (pass && pass == run->cold)
			evict_caches();
		start = clock();
		for (i = 0; i < walks; i++)
			count = walk(frames, BENCH_MAX_DEPTH + EXTRA);
		run->ns[pass] = (double)(clock() - start) / (walks ? walks : 1);
		run->frames = count;
	}
	return 0;
}

/* Stacks whose functions follow each other in ten orders. */
static long interleaved(int stack)
{
	/* All are prime to BENCH_FUNCTIONS: none comes twice on a stack. */
	static const int strides[] = { 1, 5, 7, 13, 17, 19, 23, 25, 29, 31 };

	return BENCH_AT(stack * 13 % BENCH_FUNCTIONS, strides[stack % 10]);
}

/* @walks: in a row, where they are timed in a row; 0 for the empty pair. */
static KEEP void measure(struct run *run, enum state state, int levels, long at,
			 int walks, double ns[NR_STATES])
{
	int stacks = state == INTERLEAVED ? STACKS : 1, call, i;
	/* The first call lets the method meet the stacks. */
	int calls = state == INTERLEAVED || state == OTHERS ? 2 : 1;
	const struct bench_method *m = run->method;
	double sum = 0;

	run->walks[0] = !!walks;
	run->walks[1] = state == WARM || state == RECURSION ? walks : !!walks;
	run->passes = state == INTERLEAVED ? 1 : 2;
	run->cold = state == COLD;
	for (call = 0; call < calls; call++) {
		if (call && state == OTHERS)
			m->sites(one_walk, (void *)m);
		for (sum = 0, i = 0; i < stacks; i++) {
			if (state == INTERLEAVED)
				at = interleaved(i);
			m->functions[BENCH_INDEX(at)](levels, at, leaf, run);
			sum += run->ns[0];
		}
	}
	switch (state) {
	case OTHERS:
		ns[OTHERS] = run->ns[0];
		ns[AGAIN] = run->ns[1];
		break;
	case INTERLEAVED:
		ns[INTERLEAVED] = sum / stacks;
		break;
	default:
		ns[state] = run->ns[1];
	}
}

static void say(const struct run *run, int empty, double ns, enum state state,
		int depth)
{
	const char *name = run->method->name;

	if (empty) {
		bench_say(ns, "walk_empty.%s.%d", states[state], depth);
		return;
	}
	bench_say(ns, "walk.%s.%s.%d", name, states[state], depth);
	bench_say(run->frames, "walk_frames.%s.%s.%d", name, states[state], depth);
}

/* All methods, from a stack that begins at @at. */
static KEEP void turns(int depth, int levels, enum state state, long at, int quick)
{
	/* In a row, the empty pair is nothing. */
	size_t nr_methods = bench_nr_methods +
			    (state != WARM && state != RECURSION), i;

	for (i = 0; i < nr_methods; i++) {
		int empty = i == bench_nr_methods;
		const struct bench_method *m = &bench_methods[empty ? 0 : i];
		struct run run = { .method = m };
		double ns[NR_STATES];
		int walks = (m->slow ? 2000 : 50000) / depth / (quick ? 4 : 1) + 1;

		measure(&run, state, levels, at, empty ? 0 : walks, ns);
		say(&run, empty, ns[state], state, depth);
		if (state == OTHERS)
			say(&run, empty, ns[AGAIN], AGAIN, depth);
	}
}

/* As leaf(), but untimed: the first pass walks in any case. */
static KEEP long leaf_count(void *arg)
{
	struct run *run = arg;
	void *frames[BENCH_MAX_DEPTH + EXTRA];
	int pass, i;

	for (pass = 0; pass <= run->passes; pass++) {
		if (pass && run->cold)
			evict_caches();
		for (i = pass ? run->walks[1] : 1; i > 0; i--)
			run->frames = run->method->walk(frames,
							BENCH_MAX_DEPTH + EXTRA);
	}
	return 0;
}

/* Return: how many frames a stack has besides its functions. */
static KEEP int outer_frames(void)
{
	struct run run = { .method = &bench_methods[0] };
	double ns[NR_STATES];

	measure(&run, COLD, 1, 0, 1, ns);
	/* turns() is there instead. */
	return run.frames - 1;
}

/*
 * In a thread of its own, whose stack has few frames below the functions. Each round
 * has every depth and state, so that what neighbours of the machine do for some
 * seconds meets all of them.
 */
static void *walks(void *arg)
{
	static const int depths[] = { 8, 16, 32, 64, 128, 512 };
	const size_t nr_depths = sizeof(depths) / sizeof(depths[0]);
	int quick = *(int *)arg, nr = quick ? 5 : 33, outer, round;
	size_t i;

	if (bench_methods_open())
		return arg;
	outer = outer_frames();
	if (depths[0] <= outer) {
		fputs("bench: the stack has too many frames\n", stderr);
		return arg;
	}
	for (round = 0; round < nr; round++) {
		long at = round * BENCH_FUNCTIONS / nr;

		for (i = 0; i < nr_depths; i++) {
			int depth = depths[i], levels = depth - outer;

			turns(depth, levels, WARM, at, quick);
			if (depth != 64)
				continue;
			turns(depth, levels, RECURSION, BENCH_RECURSION, quick);
			/* It takes longer than all others. */
			if (quick || round % 2 == 0)
				turns(depth, levels, OTHERS, at, quick);
		}
		/* What is cold behind it, as caches of page tables are, is so for nobody else. */
		for (i = 0; i < nr_depths; i++)
			turns(depths[i], depths[i] - outer, COLD, at, quick);
		turns(64, 64 - outer, INTERLEAVED, at, quick);
		fflush(stdout);
	}
	bench_methods_close();
	return NULL;
}

/* In a thread of its own, too. */
static void *counted(void *arg)
{
	struct run *run = arg;
	int levels;

	if (bench_methods_open())
		return arg;
	/* Here are neither outer_frames() nor measure(). */
	levels = 64 - outer_frames() + 2;
	run->method->functions[0](levels, 0, leaf_count, run);
	printf("%d\n", run->frames);
	bench_methods_close();
	return NULL;
}

static int in_thread(void *(*function)(void *), void *arg)
{
	void *failed = NULL;
	pthread_t thread;

	evict = malloc(EVICT_BYTES);
	if (!evict)
		return 1;
	memset(evict, 1, EVICT_BYTES);
	if (pthread_create(&thread, NULL, function, arg) ||
	    pthread_join(thread, &failed))
		return 1;
	free(evict);
	return failed != NULL;
}

int bench_walk(int quick)
{
	return in_thread(walks, &quick);
}

int bench_count(const char *method, int cold, int passes, int walks)
{
	struct run run = { .passes = passes, .walks = { 1, walks }, .cold = cold };
	size_t i;

	for (i = 0; i < bench_nr_methods; i++)
		if (!strcmp(bench_methods[i].name, method))
			run.method = &bench_methods[i];
	if (!run.method) {
		fprintf(stderr, "bench: no method is named %s\n", method);
		return 1;
	}
	return in_thread(counted, &run);
}

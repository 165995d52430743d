// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Threads that other programs look at.
 *
 * usage: branches busy|asleep THREADS
 *
 * busy: each thread goes down one branch of calls, then the other one, all the time. A stack
 * with functions of both is a mixture of two moments. asleep: each thread waits at the end of
 * a branch for good. Writes a line when all threads are there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noinline, noclone))
/* Keep a call from being a jump. */
#define KEEP()		__asm__ volatile("" ::: "memory")

static int forever;
static atomic_int ready;
static volatile unsigned int sink;

static NOINLINE void end(unsigned int seed)
{
	unsigned int i;

	if (forever) {
		atomic_fetch_add(&ready, 1);
		for (;;)
			pause();
	}
	for (i = 0; i < 40 + seed % 30; i++)
		sink += i;
}

#define BRANCH(name)						\
static NOINLINE void name(int depth, unsigned int seed)		\
{								\
	char room[40 + sizeof(#name)];				\
								\
	__asm__ volatile("" :: "r"(room) : "memory");		\
	if (depth)						\
		name(depth - 1, seed);				\
	else							\
		end(seed);					\
	KEEP();							\
}

BRANCH(left)
BRANCH(right_side)

static void *run(void *unused)
{
	unsigned int seed = 1;

	(void)unused;
	if (!forever)
		atomic_fetch_add(&ready, 1);
	for (;;) {
		seed = seed * 1103515245 + 12345;
		left(3 + seed / 65536 % 9, seed);
		right_side(1 + seed / 65536 % 17, seed);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_attr_t attributes;
	pthread_t thread;

	if (!threads)
		return 2;
	forever = !strcmp(argv[1], "asleep");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread, &attributes, run, NULL))
			return 1;
	while (ready < threads)
		usleep(10000);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* What programs have that sample themselves: each is one file, which begins with this one. */
#ifndef TESTS_SAMPLING_H
#define TESTS_SAMPLING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libkunwind.h"

#define NOINLINE	__attribute__((noinline, noclone))
#define MS		1000000l
#define KEEP_FRAME()	__asm__ volatile("" ::: "memory")

static struct kunwind_handle *handle;
static const char *folder;
static unsigned int hz = 99;

static void fail(const char *what, int ret)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	exit(1);
}

static void begin(void)
{
	int ret = kunwind_profile_start(handle, hz, folder);

	if (ret)
		fail("kunwind_profile_start", ret);
}

/* What was lost is an error, too. */
static int end(void)
{
	int ret = kunwind_profile_stop();

	if (ret)
		fprintf(stderr, "kunwind_profile_stop: %d\n", ret);
	return ret != 0;
}

/* Use the CPU for so long, by the thread's own clock. */
static inline __attribute__((always_inline)) void use(long ms)
{
	struct timespec time;
	long now, until = 0;

	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
		now = time.tv_sec * 1000 + time.tv_nsec / MS;
		until = until ?: now + ms;
	} while (now < until);
}

static NOINLINE void much(long ms)
{
	use(ms * 3);
	KEEP_FRAME();
}

static NOINLINE void little(long ms)
{
	use(ms);
	KEEP_FRAME();
}

static NOINLINE void both(long ms)
{
	much(ms);
	little(ms);
	KEEP_FRAME();
}

/**
 * struct subject - what a program can do
 * @what: its name; NULL: there is no more
 * @run: does it. Return: the exit status
 */
struct subject {
	const char *what;
	int (*run)(void);
};

/*
 * Open kunwind for a program that is called as PROGRAM WHAT FOLDER [HZ].
 * Return: the one of @all that is meant; NULL if none is. main() calls it: it is in its stacks.
 */
static const struct subject *prepare(int argc, char **argv, const struct subject *all)
{
	int ret;

	if (argc < 3)
		return NULL;
	folder = argv[2];
	if (argc == 4)
		hz = atoi(argv[3]);
	ret = kunwind_open(&handle);
	if (ret)
		fail("kunwind_open", ret);
	while (all->what && strcmp(argv[1], all->what))
		all++;
	return all->what ? all : NULL;
}

#endif /* TESTS_SAMPLING_H */

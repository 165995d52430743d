// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A C library that has no table for most of its functions calls back: sorting,
 * searching, at exit, a signal's handler, a thread. Such a library (musl) uses
 * rbp as it likes.
 */
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t caught;
static int calls;
static jmp_buf env;

static int compare(const void *a, const void *b)
{
	calls++;
	return *(const int *)a - *(const int *)b;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void visit(const void *node, VISIT which, int depth)
{
	if (which == postorder || which == leaf)
		calls += depth + !!*(const char *const *)node;
}

static void handler(int sig)
{
	caught = sig;
}

static void *work(void *arg)
{
	int numbers[] = { 4, 2, 8, *(int *)arg };

	qsort(numbers, 4, sizeof(numbers[0]), compare);
	return NULL;
}

static void bye(void)
{
	calls++;
}

static void leave(int n)
{
	if (n)
		leave(n - 1);
	longjmp(env, 1);
}

int main(void)
{
	static const char *const names[] = { "musl", "glibc", "bionic", "dietlibc" };
	int numbers[50], one = 1, i;
	char text[64] = "";
	void *tree = NULL;
	pthread_t thread;

	atexit(bye);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	for (i = 0; i < 50; i++)
		numbers[i] = i * 7919 % 101;
	qsort(numbers, 50, sizeof(numbers[0]), compare);
	for (i = 0; i < 50; i++)
		if (!bsearch(&numbers[i], numbers, 50, sizeof(int), compare))
			return 1;
	for (i = 0; i < 4; i++)
		tsearch(names[i], &tree, compare_names);
	twalk(tree, visit);
	if (!setjmp(env))
		leave(3);
	if (pthread_create(&thread, NULL, work, &one) ||
	    pthread_join(thread, NULL))
		return 1;
	snprintf(text, sizeof(text), "%d %d %.3f", calls, caught, 1.0 / 3);
	puts(text);
	return caught != SIGUSR1;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What moves control other than a call and its return: tail calls, longjmp,
 * lazily bound functions, alloca, realigned stacks, vfork.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

#define noinline __attribute__((noinline))

static jmp_buf env;
static volatile int sink;

static noinline int leaf(int n)
{
	sink += n;
	return sink;
}

static noinline int tail(int n)
{
	sink++;
	return n & 1 ? leaf(n) : leaf(n + 1);
}

static noinline void deep(int n)
{
	if (!n)
		longjmp(env, 1);
	deep(n - 1);
	sink++;
}

static noinline int on_heap_and_stack(int n)
{
	char *some = alloca((size_t)n * 100);
	char __attribute__((aligned(64))) other[128];

	memset(some, n, (size_t)n * 100);
	memset(other, n, sizeof(other));
	return tail(some[n] + other[n]);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int numbers[] = { 5, 3, 9, 1, 7 };
	int i;

	for (i = 0; i < 4; i++)
		if (!setjmp(env))
			deep(i * 3);
	for (i = 1; i < 4; i++)
		on_heap_and_stack(i);
	qsort(numbers, 5, sizeof(numbers[0]), compare);
	printf("%d %d %s\n", numbers[0], child(), getenv("HOME") ? "home" : "");
	return numbers[0] != 1;
}

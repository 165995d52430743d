// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A program of musl, whose signal restorer has no CFI: a handler's frames lead
 * through it nonetheless, as its bytes say what it is. Debian builds the rest of musl without
 * .eh_frame as well: by its code, the walk goes through the qsort() that calls back, and
 * through what calls main(), and says that it guessed. Built twice, with libc.so and
 * static (musl-static).
 *
 * stack: @ask handler ... @victim work main ...
 * stop: COMPLETE, 7 proven
 * stack: @ask compare ... sort main ...
 * stop: COMPLETE, 3 proven
 */
#include "trap.h"

FRAME static void work(void)
{
	victim();
	STAY();
}

FRAME static int compare(const void *a, const void *b)
{
	ask();
	return *(const int *)a - *(const int *)b;
}

/* Called back by libc: its qsort() has CFI or not, as the distribution built it. */
FRAME static void sort(void)
{
	int numbers[] = { 2, 1 };

	qsort(numbers, 2, sizeof(numbers[0]), compare);
	STAY();
}

int main(void)
{
	begin();
	handle(SIGILL, handler, 0);
	work();
	sort();
	report();
	return 0;
}

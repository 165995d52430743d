// SPDX-License-Identifier: MIT
/* A library that sampled.c loads and leaves, built with two names for its function. */
#include <time.h>

void work_there(long ms);

static __attribute__((noinline, noclone)) void FUNCTION(long ms)
{
	struct timespec time;
	long now, until = 0;

	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
		now = time.tv_sec * 1000 + time.tv_nsec / 1000000;
		until = until ? until : now + ms;
	} while (now < until);
}

void work_there(long ms)
{
	FUNCTION(ms);
	__asm__ volatile("" ::: "memory");
}

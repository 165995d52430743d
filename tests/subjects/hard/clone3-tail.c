// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * glibc ends the FDE of clone3() before its system call. The caller's stack goes on
 * by the row before; the thread's ends there, with rbp = 0, as the psABI has it.
 *
 * stack: @ask work thread ...
 * stop: COMPLETE, all proven
 * entry clone3: ... hire main ... _start
 */
#include <pthread.h>
#include "hard.h"

FRAME static void work(void)
{
	ask();
	STAY();
}

FRAME static void *thread(void *arg)
{
	work();
	STAY();
	return arg;
}

FRAME static void hire(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, NULL) || pthread_join(id, NULL))
		errx(1, "pthread_create");
}

int main(void)
{
	begin();
	hire();
	report();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: protect THREADS SECONDS: threads, each of which makes a mapping of this program
 * executable and takes it back, all at the same time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LENGTH	4096UL

static int file;
static time_t end;

static void *protect(void *unused)
{
	void *at = mmap(NULL, LENGTH, PROT_READ, MAP_PRIVATE, file, 0);

	(void)unused;
	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	while (time(NULL) < end) {
		if (mprotect(at, LENGTH, PROT_READ | PROT_EXEC) ||
		    mprotect(at, LENGTH, PROT_READ)) {
			perror("mprotect");
			exit(1);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, i;
	pthread_t *threads = calloc(count, sizeof(*threads));

	end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 0);
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (file < 0 || !threads) {
		perror("protect");
		return 1;
	}
	for (i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, protect, NULL)) {
			perror("pthread_create");
			return 1;
		}
	}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * For tests/vm/events.sh. The program makes a page of its own code writable and takes that back, as
 * tracers that patch code do. Then for each COUNT, a call of mprotect() makes as many mappings
 * executable which were so before. Each is two mapping events for kunwind, and all come before
 * this task can catch up.
 *
 * usage: events LIBRARY COUNT...
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE	4096UL

/* All have the same part of the file, so that the kernel makes no single mapping of them. */
static void replace(int fd, size_t count)
{
	size_t length = count * PIECE, i;
	char *at = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		err(2, "mmap");
	for (i = 0; i < count; i++)
		if (mmap(at + i * PIECE, PIECE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			 fd, 0) == MAP_FAILED)
			err(2, "mmap");
	if (mprotect(at, length, PROT_READ) || mprotect(at, length, PROT_READ | PROT_EXEC) ||
	    munmap(at, length))
		err(2, "mprotect");
}

int main(int argc, char **argv)
{
	void *page = (void *)((uintptr_t)main & -PIECE);
	int fd = argc > 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, i;

	if (argc < 3)
		errx(2, "usage: events LIBRARY COUNT...");
	if (fd < 0)
		err(2, "%s", argv[1]);
	if (mprotect(page, PIECE, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    mprotect(page, PIECE, PROT_READ | PROT_EXEC))
		err(2, "mprotect");
	for (i = 2; i < argc; i++)
		replace(fd, strtoul(argv[i], NULL, 10));
	return 0;
}

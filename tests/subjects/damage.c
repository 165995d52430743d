// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ELF files with random damage are mapped executable, and executed. This program
 * asks for its own stack all the while: it stays whole. It prints how many were
 * executed, how many of these the kernel took for programs, and at how many kunwind
 * looked meanwhile, by the tables that it made or could not make; the last, only if
 * a consumer wants the whole system and no other process starts anything. The figures
 * table_builds and table_failures are open as file descriptors 8 and 9.
 *
 * usage: damage LIBRARY PROGRAM FOLDER COUNT [SEED]
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kunwind.h>
#include "hostile.h"

static unsigned long state;

static unsigned int draw(unsigned int below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}

/* Where a change matters: the headers, and what unwinders read. */
static unsigned char *some_place(const struct image *image)
{
	size_t hdr = image->eh_hdr->p_offset, frame = image->frame - image->bytes;

	switch (draw(5)) {
	case 0:
		return image->bytes + draw(sizeof(Elf64_Ehdr) + 13 * sizeof(Elf64_Phdr));
	case 1:
		return image->bytes + hdr + draw(16);
	case 2:
		return image->bytes + draw(image->size);
	}
	return image->bytes + frame + draw(image->size - frame < 400 ?
					   image->size - frame : 400);
}

static void damage(struct image *image)
{
	unsigned int changes = 1 + draw(6);

	while (changes--) {
		unsigned char *at = some_place(image);
		unsigned long value = draw(2) ? draw(-1) : -1ul << draw(64);
		size_t size = 1u << draw(4);

		/* Where .eh_frame_hdr is may be damaged already. */
		if (at >= image->bytes && at + size <= image->bytes + image->size)
			memcpy(at, &value, size);
	}
}

/* Tables that were made, and files that gave none: only root can open these files. */
enum { TABLE_BUILDS = 8, TABLE_FAILURES = 9 };

static unsigned long figure(int file)
{
	char text[32] = "";

	if (pread(file, text, sizeof(text) - 1, 0) <= 0)
		err(2, "file descriptor %d", file);
	return strtoul(text, NULL, 10);
}

static unsigned long nr_tables(void)
{
	return figure(TABLE_BUILDS) + figure(TABLE_FAILURES);
}

static unsigned int nr_executed, nr_ran, nr_looked_at;

/* Whatever it does, it does not do it for long, and not to others. */
static void execute(const char *path)
{
	unsigned long before = nr_tables();
	const struct rlimit second = { 1, 1 }, none = { 0, 0 },
			    memory = { 1 << 28, 1 << 28 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), ends[2];
	char refused;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		err(2, "pipe");
	child = fork();
	if (child < 0)
		err(2, "fork");
	if (!child) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		setrlimit(RLIMIT_CPU, &second);
		setrlimit(RLIMIT_AS, &memory);
		setrlimit(RLIMIT_FSIZE, &none);
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(10);
		execl(path, path, NULL);
		_exit(write(ends[1], "", 1));
	}
	close(null);
	close(ends[1]);
	nr_executed++;
	/* An execve() that worked has closed the other end; some that fail kill. */
	if (read(ends[0], &refused, 1) == 0)
		nr_ran++;
	close(ends[0]);
	waitpid(child, NULL, 0);
	if (nr_tables() != before)
		nr_looked_at++;
}

static int map(int device, const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), prot = PROT_READ | PROT_EXEC;
	struct answer a;
	void *at;

	at = mmap(NULL, size, prot, MAP_PRIVATE, fd, 0);
	ask_here(device, &a);
	if (at != MAP_FAILED)
		munmap(at, size);
	close(fd);
	if (!a.error && a.stop == KUNWIND_STOP_COMPLETE && a.count == a.proven)
		return 0;
	printf("own stack: error %d, %u frames, %u proven, stop %s\n", a.error,
	       a.count, a.proven, stop_name(a.stop));
	return 1;
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 5 ? strtoul(argv[5], NULL, 0) :
					(unsigned long)time(NULL);
	int device, i, wrong = 0;
	char path[4096];

	if (argc < 5)
		errx(2, "usage: damage LIBRARY PROGRAM FOLDER COUNT [SEED]");
	printf("seed %lu\n", seed);
	fflush(stdout);
	state = seed * 0x9e3779b97f4a7c15ul | 1;
	snprintf(path, sizeof(path), "%s/random", argv[3]);
	device = device_open();
	for (i = 0; i < atoi(argv[4]) && !wrong; i++) {
		struct image image;

		image_load(&image, argv[1 + i % 2]);
		damage(&image);
		image_save(&image, path);
		/* First: then the table is made for the new program. */
		if (i % 2)
			execute(path);
		wrong = map(device, path, image.size);
		free(image.bytes);
	}
	printf("%u executed, %u ran, %u looked at\n", nr_executed, nr_ran, nr_looked_at);
	return wrong;
}

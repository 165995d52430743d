// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: crowd FILE MAPPINGS PROCESSES: processes that share their memory, in which a page of the
 * file is mapped executable many times. They stay until the end of the program's input.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE	4096UL
#define STACK	(4 * PAGE)

static int member(void *parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have died before that. */
	while (getppid() == *(pid_t *)parent)
		pause();
	return 0;
}

/* The same page each time: the kernel does not join such mappings. */
static int map_many(int file, long count)
{
	char *at = mmap(NULL, count * PAGE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	for (; count; count--, at += PAGE)
		if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) ==
		    MAP_FAILED)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	long mappings = argc == 4 ? atol(argv[2]) : 0, processes = mappings ? atol(argv[3]) : 0;
	int file = processes ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	pid_t self = getpid();
	char *stacks, c;

	if (file < 0 || map_many(file, mappings)) {
		perror("crowd");
		return 1;
	}
	stacks = mmap(NULL, processes * STACK, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stacks == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (; processes; processes--, stacks += STACK) {
		if (clone(member, stacks + STACK, CLONE_VM | SIGCHLD, &self) < 0) {
			perror("clone");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}

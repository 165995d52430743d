/* SPDX-License-Identifier: MIT */
/*
 * For kunwind-test.ko: spins at a place whose callers are known, while other
 * threads map, unmap, move, fork and exec.
 *
 * usage: spin SECONDS RATE LIBRARY FOLDER
 *
 * A file on 9p has mappings that do not merge again, and mremap() wants one: files
 * are copied to FOLDER first.
 *
 * The callers are those that glibc's backtrace() finds. The module compares them
 * with each walk that is made where the program spins, and counts.
 */
#include <dlfcn.h>
#include <err.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parameters.h"

#define NOINLINE	__attribute__((noinline, noclone))

extern const char spin_low[], spin_high[];

static const char *library, *folder, *rate;
static unsigned int seconds;
static int done;

/* The caller is the place: what is behind it are the callers. */
static NOINLINE void tell(void)
{
	void *frames[40];
	char text[1024];
	int count = backtrace(frames, 40), i;
	size_t used;

	used = snprintf(text, sizeof(text), "%lx %lx", (unsigned long)spin_low,
			(unsigned long)spin_high);
	for (i = 2; i < count; i++)
		used += snprintf(text + used, sizeof(text) - used, " %lx",
				 (unsigned long)frames[i]);
	set("expect", text);
}

static NOINLINE void spin(void)
{
	unsigned int rounds = 0;

	tell();
	set("rate", rate);
	/* Mostly in user mode; a system call (getppid) now and then. */
	__asm__ volatile(".globl spin_low, spin_high\n"
			 "spin_low:\n"
			 "1:	addl $1, %[rounds]\n"
			 "	testl $0xfff, %[rounds]\n"
			 "	jnz 2f\n"
			 "	movl $110, %%eax\n"
			 "	syscall\n"
			 "2:	cmpl $0, %[done]\n"
			 "	je 1b\n"
			 "spin_high:\n"
			 : [rounds] "+r"(rounds)
			 : [done] "m"(done)
			 : "rax", "rcx", "r11", "cc", "memory");
	set("rate", "0");
}

static NOINLINE void middle(int depth)
{
	if (depth)
		middle(depth - 1);
	else
		spin();
	__asm__ volatile("" ::: "memory");
}

static void copy_library(const char *path)
{
	char bytes[65536];
	int from = open(library, O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t n;

	if (from < 0 || to < 0)
		err(2, "%s", path);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, n) != n)
			err(2, "%s", path);
	close(from);
	close(to);
}

/* A new file each time has a new table. */
static void *load_and_unload(void *unused)
{
	char path[4096], last[4096] = "";
	unsigned int i;
	void *handle;

	for (i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++) {
		snprintf(path, sizeof(path), "%s/spin-%u.so", folder, i % 3);
		unlink(path);
		copy_library(path);
		handle = dlopen(path, RTLD_NOW);
		if (!handle)
			errx(2, "%s", dlerror());
		if (*last)
			unlink(last);
		strcpy(last, path);
		dlclose(handle);
	}
	return unused;
}

static void *map_and_move(void *unused)
{
	const size_t size = 4 * 4096;
	char path[4096], *at, *to;
	int fd;

	snprintf(path, sizeof(path), "%s/spin-map.so", folder);
	copy_library(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(2, "%s", path);
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at == MAP_FAILED || to == MAP_FAILED)
			err(2, "mmap");
		if (mprotect(at + 4096, 4096, PROT_READ) ||
		    mprotect(at + 4096, 4096, PROT_READ | PROT_EXEC))
			err(2, "mprotect");
		if (mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
			err(2, "mremap");
		munmap(to, size);
	}
	close(fd);
	return unused;
}

static NOINLINE pid_t start(unsigned int kind)
{
	pid_t child;

	if (kind == 0)
		return vfork() ?: execl("/bin/true", "true", NULL);
	child = fork();
	if (!child && kind == 1)
		execl("/bin/true", "true", NULL);
	if (!child)
		_exit(0);
	return child;
}

static void *fork_and_exec(void *unused)
{
	unsigned int i;

	for (i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++) {
		pid_t child = start(i % 3);

		if (child < 0)
			err(2, "fork");
		waitpid(child, NULL, 0);
	}
	return unused;
}

static void *watch(void *unused)
{
	sleep(seconds);
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = {
		watch, load_and_unload, map_and_move, fork_and_exec,
	};
	pthread_t threads[sizeof(work) / sizeof(work[0])];
	unsigned int i;

	if (argc != 5)
		errx(2, "usage: spin SECONDS RATE LIBRARY FOLDER");
	seconds = atoi(argv[1]);
	rate = argv[2];
	library = argv[3];
	folder = argv[4];
	for (i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		if (pthread_create(&threads[i], NULL, work[i], NULL))
			errx(2, "no thread");
	middle(5);
	for (i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		pthread_join(threads[i], NULL);
	return 0;
}

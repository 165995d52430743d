// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A program whose mappings come and go. It writes down what the kernel says of
 * them, in files FOLDER/TID.STEP, each followed by a system call that says so:
 * getpriority(2000, STEP). check-maps compares.
 *
 * usage: maps steps FOLDER LIB0 LIB1 LIB2
 *        maps storm ROUNDS LIB...
 *        maps sleep FOLDER
 *        maps wait FOLDER LIB0 LIB1: until FOLDER/go is there
 *        maps forks FOLDER LIB0 LIB1: the same, with children and theirs
 *        maps busy FOLDER LIB0 LIB1: the same, with mmap_lock taken half of the time
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS		3
#define CHECKPOINT	2000
#define MEMORY		(32 << 20)

typedef long (*mark_fn)(long step);

static const char *folder;
static long step;

static void __attribute__((noinline)) tell(void)
{
	syscall(SYS_getpriority, CHECKPOINT, step);
}

static void checkpoint(void)
{
	char path[4096], line[8192];
	FILE *from, *to;

	snprintf(path, sizeof(path), "%s/%d.%ld", folder, gettid(), ++step);
	from = fopen("/proc/self/maps", "r");
	to = fopen(path, "wx");
	if (!from || !to)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), from))
		fputs(line, to);
	fclose(from);
	if (fclose(to))
		err(2, "%s", path);
	tell();
}

/* Open a library and have it say who it is. */
static void *load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	mark_fn mark;

	if (!lib)
		errx(2, "%s", dlerror());
	mark = (mark_fn)dlsym(lib, "mark");
	if (!mark)
		errx(2, "%s", dlerror());
	mark(step);
	return lib;
}

static void spawn(char * const *args)
{
	extern char **environ;
	int status;
	pid_t pid;

	if (posix_spawn(&pid, args[0], NULL, NULL, args, environ))
		errx(2, "%s cannot be started", args[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		errx(2, "%s failed", args[0]);
}

/* Close a library, and see to it that the next one does not take its place. */
static void leave(void *lib, const char *next)
{
	void *was = dlsym(lib, "mark");
	char *page = (char *)((uintptr_t)was & ~4095UL);

	dlclose(lib);
	if (mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_FIXED_NOREPLACE, -1, 0) != page)
		err(2, "mmap");
	if (dlsym(load(next), "mark") == was)
		errx(2, "%s took the place", next);
}

/* In the child of a fork: what it changes is not its parent's. */
static void __attribute__((noreturn)) child(void *lib, char *program, char **libs)
{
	char *args[] = { program, "sleep", (char *)folder, NULL };

	checkpoint();
	dlclose(lib);
	load(libs[2]);
	checkpoint();
	execv(program, args);
	err(2, "%s", program);
}

static void steps(char *program, char **libs)
{
	char *sleeper[] = { program, "sleep", (char *)folder, NULL };
	void *was, *lib;
	int status;
	pid_t pid;

	checkpoint();
	lib = load(libs[0]);
	checkpoint();
	was = dlsym(lib, "mark");
	dlclose(lib);
	lib = load(libs[1]);
	/* The test is of an address that is used again. */
	if (dlsym(lib, "mark") != was)
		errx(2, "%s is not where %s was", libs[1], libs[0]);
	checkpoint();
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid)
		child(lib, program, libs);
	if (waitpid(pid, &status, 0) != pid || status)
		errx(2, "the child failed");
	((mark_fn)dlsym(lib, "mark"))(step);
	checkpoint();
	spawn(sleeper);
	checkpoint();
	leave(lib, libs[2]);
	checkpoint();
}

static struct {
	long rounds;
	char **libs;
	int count;
} storm;

static void *storm_thread(void *arg)
{
	unsigned int seed = (long)arg;
	long i;

	for (i = 0; i < storm.rounds; i++) {
		void *lib = load(storm.libs[rand_r(&seed) % storm.count]);
		pid_t pid = i % 8 ? -1 : fork();

		if (!pid) {
			((mark_fn)dlsym(lib, "mark"))(i);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		((mark_fn)dlsym(lib, "mark"))(i);
		dlclose(lib);
	}
	return NULL;
}

static void run_storm(void)
{
	pthread_t threads[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, storm_thread, (void *)i))
			errx(2, "no thread");
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int may_go(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/go", folder);
	return !access(path, F_OK);
}

/* The mappings are complete before the file TID.1 is. */
static void wait_to_go(char **libs)
{
	load(libs[0]);
	load(libs[1]);
	checkpoint();
	while (!may_go())
		usleep(10000);
	checkpoint();
}

/* Each generation has its address space from the one before. */
static void family(mark_fn mark, int generations)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid) {
		if (waitpid(pid, &status, 0) != pid || status)
			errx(2, "a child failed");
		return;
	}
	mark(generations);
	if (generations)
		family(mark, generations - 1);
	_exit(0);
}

static void forks(char **libs)
{
	void *lib = load(libs[0]);

	load(libs[1]);
	checkpoint();
	while (!may_go()) {
		family((mark_fn)dlsym(lib, "mark"), 3);
		usleep(20000);
	}
}

/* mprotect() of many pages holds mmap_lock for milliseconds, as fork() does. */
static void *hold_lock(void *memory)
{
	for (;;) {
		if (mprotect(memory, MEMORY, PROT_READ) ||
		    mprotect(memory, MEMORY, PROT_READ | PROT_WRITE))
			err(2, "mprotect");
		usleep(5000);
	}
}

static void busy(char **libs)
{
	void *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *lib = load(libs[0]);
	pthread_t thread;

	if (memory == MAP_FAILED)
		err(2, "mmap");
	/* A kernel without huge pages, as those with PREEMPT_RT are, says EINVAL. */
	if (madvise(memory, MEMORY, MADV_NOHUGEPAGE) && errno != EINVAL)
		err(2, "madvise");
	memset(memory, 1, MEMORY);
	load(libs[1]);
	if (pthread_create(&thread, NULL, hold_lock, memory))
		errx(2, "no thread");
	checkpoint();
	while (!may_go()) {
		((mark_fn)dlsym(lib, "mark"))(step);
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	folder = argc > 2 ? argv[2] : "";
	if (argc == 6 && !strcmp(argv[1], "steps")) {
		steps(argv[0], argv + 3);
	} else if (argc > 3 && !strcmp(argv[1], "storm")) {
		storm.rounds = atol(argv[2]);
		storm.libs = argv + 3;
		storm.count = argc - 3;
		run_storm();
	} else if (argc == 3 && !strcmp(argv[1], "sleep")) {
		checkpoint();
		usleep(1000);
	} else if (argc == 5 && !strcmp(argv[1], "wait")) {
		wait_to_go(argv + 3);
	} else if (argc == 5 && !strcmp(argv[1], "forks")) {
		forks(argv + 3);
	} else if (argc == 5 && !strcmp(argv[1], "busy")) {
		busy(argv + 3);
	} else {
		errx(2, "usage: maps steps|storm|sleep|wait|forks|busy ...");
	}
	return 0;
}

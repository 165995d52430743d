// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What is measured in a guest whose clock counts instructions: every figure is in
 * ns, and so a number of instructions.
 *
 * subject getppid DEPTH COUNT		a call of getppid(), of COUNT
 * subject turns DEPTH COUNT N FIRST	the same in turns with others, N processes in
 *					all: each reads from fd 3 that it is its turn,
 *					and writes to fd 4; FIRST is 1 in one of them
 * subject busy DEPTH COUNT		a loop of COUNT rounds, as a whole
 * subject zero DEPTH COUNT		COUNT reads of /dev/zero, as a whole: nearly
 *					all of it in the kernel
 * subject walk DEPTH COUNT		a walk, by both ways of kunwind-bench.ko
 * subject threads N COUNT		a walk of kunwind, the mean of N threads
 * subject ask N COUNT			a stack of another thread, of N that sleep
 * subject spawn COUNT CMD...		start and end of a program, each of COUNT
 * subject work COUNT CMD...		the same without what it waits for: CPU time,
 *					of its processes
 * subject fork COUNT			a child that ends at once
 * subject dlopen COUNT LIBRARY		dlopen() and dlclose()
 * subject hooked CALLS COUNT FILE	mmap, mremap, mprotect or fork: calls of which
 *					the kernel comes by kunwind's hooks; the
 *					median of COUNT short pieces
 * subject sleepers COUNT		COUNT processes of this program, until stdin ends
 *
 * With -a before: a consumer of kunwind's is attached meanwhile.
 *
 * The stack has more than 8 KiB, and DEPTH frames, _start's included. System
 * calls are made by the instruction itself, as libc's functions would hide their
 * caller from a walk by frame pointer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../../include/uapi/linux/kunwind.h"
#include "../bench.h"
#include "module/walker.h"

/* leaf, main, two of libc's, _start; in a thread leaf, its function, two of libc's. */
#define OUTER		5
#define OUTER_THREAD	4
#define STACK_BYTES	9000
#define MAX_THREADS	64
#define MAX_SLEEPERS	1000
#define WARM_UP		10

extern char **environ;

struct job {
	long count;
	int device;
	/* Of those that take turns: how many, and whether this is the first one. */
	long turns;
	bool first;
	struct bench_walks walks;
	double ns;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "subject: %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline long call(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

static long leaf_getppid(void *arg)
{
	struct job *job = arg;
	double start;
	long i;

	/* The first ones fill a tracer's caches. */
	for (i = 0; i < WARM_UP; i++)
		call(SYS_getppid, 0, 0, 0);
	start = now();
	for (i = 0; i < job->count; i++)
		call(SYS_getppid, 0, 0, 0);
	job->ns = (now() - start) / (double)job->count;
	return 0;
}

static long leaf_turns(void *arg)
{
	struct job *job = arg;
	double start = 0;
	char c = 0;
	long i;

	for (i = 0; i < WARM_UP + job->count; i++) {
		if (i == WARM_UP)
			start = now();
		if (job->first)
			call(SYS_write, 4, (long)&c, 1);
		if (call(SYS_read, 3, (long)&c, 1) != 1)
			die("the others");
		call(SYS_getppid, 0, 0, 0);
		if (!job->first)
			call(SYS_write, 4, (long)&c, 1);
	}
	/* Of all. */
	job->ns = (now() - start) / (double)(job->count * job->turns);
	return 0;
}

static long leaf_busy(void *arg)
{
	struct job *job = arg;
	double start = now();
	long i;

	for (i = 0; i < job->count; i++)
		__asm__ volatile("");
	job->ns = now() - start;
	return 0;
}

static long leaf_zero(void *arg)
{
	static char bytes[1 << 16];
	struct job *job = arg;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	double start;
	long i;

	if (fd < 0)
		die("/dev/zero");
	start = now();
	for (i = 0; i < job->count; i++)
		call(SYS_read, fd, (long)bytes, sizeof(bytes));
	job->ns = now() - start;
	close(fd);
	return 0;
}

static long leaf_walk(void *arg)
{
	struct job *job = arg;

	job->walks.count = (__u32)job->count;
	if (call(SYS_ioctl, job->device, (long)BENCH_WALK, (long)&job->walks)) {
		fputs("subject: BENCH_WALK fails\n", stderr);
		exit(1);
	}
	job->ns = (double)job->walks.ns / (double)job->count;
	return 0;
}

static int device(void)
{
	int fd = open("/dev/kunwind-bench", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/kunwind-bench");
	return fd;
}

static void *walk_thread(void *arg)
{
	struct job *job = arg;

	SUBJECT[0](16 - OUTER_THREAD, 0, leaf_walk, job);
	return NULL;
}

static void threads(int fd, long n, long count)
{
	static pthread_t ids[MAX_THREADS];
	static struct job jobs[MAX_THREADS];
	double sum = 0;
	long i;

	for (i = 0; i < n; i++) {
		jobs[i].count = count;
		jobs[i].device = fd;
		if (pthread_create(&ids[i], NULL, walk_thread, &jobs[i]))
			die("pthread_create");
	}
	for (i = 0; i < n; i++) {
		pthread_join(ids[i], NULL);
		if (jobs[i].walks.stop != KUNWIND_STOP_COMPLETE ||
		    jobs[i].walks.frames != 16) {
			fprintf(stderr, "subject: %u frames, stop %u\n",
				jobs[i].walks.frames, jobs[i].walks.stop);
			exit(1);
		}
		sum += jobs[i].ns;
	}
	printf("%.1f\n", sum / (double)n);
}

/* Tells who it is, and sleeps for good. */
static long leaf_asleep(void *arg)
{
	const int *told = arg;
	pid_t tid = (pid_t)call(SYS_gettid, 0, 0, 0);

	call(SYS_write, *told, (long)&tid, sizeof(tid));
	return call(SYS_pause, 0, 0, 0);
}

static void *sleep_thread(void *arg)
{
	SUBJECT[0](16 - OUTER_THREAD, 0, leaf_asleep, arg);
	return NULL;
}

/* Return: whether the thread's stack was whole. */
static bool ask_for(int fd, pid_t tid)
{
	static struct {
		struct kunwind_thread thread;
		__u64 frames[64];
	} stack;

	stack.thread = (struct kunwind_thread){
		.size = sizeof(stack.thread), .pid = getpid(), .tid = tid,
		.capacity = 64,
	};
	if (ioctl(fd, KUNWIND_IOC_THREAD, &stack))
		die("KUNWIND_IOC_THREAD");
	return stack.thread.stop == KUNWIND_STOP_COMPLETE &&
	       stack.thread.count == 16;
}

static void ask(long n, long count)
{
	static pid_t tids[MAX_SLEEPERS];
	int fd = open("/dev/kunwind", O_RDWR | O_CLOEXEC), told[2];
	double start = 0;
	pthread_t id;
	long i, j;

	if (fd < 0)
		die("/dev/kunwind");
	if (pipe(told) || n > MAX_SLEEPERS)
		die("pipe");
	for (i = 0; i < n; i++) {
		if (pthread_create(&id, NULL, sleep_thread, &told[1]))
			die("pthread_create");
		if (read(told[0], &tids[i], sizeof(*tids)) != sizeof(*tids))
			die("read");
	}
	/* Until they sleep. */
	usleep(100000);
	/* The first round covers the process. */
	for (j = -1; j < count; j++) {
		if (!j)
			start = now();
		for (i = 0; i < n; i++)
			if (!ask_for(fd, tids[i]) && j >= 0) {
				fputs("subject: a stack ends early\n", stderr);
				exit(1);
			}
	}
	printf("%.1f\n", (now() - start) / (double)(n * count));
}

/* What it says on stdout is of no interest. */
static pid_t spawn(char **argv)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	/* Whether it fails its status says. */
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	errno = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (errno)
		die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* Of children that have ended, and of theirs. */
static double cpu_time(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage))
		die("getrusage");
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

static void spawns(long count, char **argv, double (*clock)(void))
{
	int status;
	long i;

	for (i = 0; i < count; i++) {
		double start = clock();

		waitpid(spawn(argv), &status, 0);
		if (status) {
			fprintf(stderr, "subject: %s fails: %#x\n", argv[0],
				(unsigned int)status);
			exit(1);
		}
		printf("%.0f\n", clock() - start);
	}
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void forks(long count)
{
	double start = now();
	long i;

	for (i = 0; i < count; i++)
		fork_once();
	printf("%.0f\n", (now() - start) / (double)count);
}

/* Mapped where nothing else is for some pages. */
struct file {
	int fd;
	size_t page;
	char *at;
};

static void map_pages(struct file *f, size_t pages)
{
	if (mmap(f->at, pages * f->page, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_FIXED, f->fd, 0) != f->at)
		die("mmap");
}

static void move(char *from, size_t bytes, size_t new_bytes, int flags, char *to)
{
	if (mremap(from, bytes, new_bytes, flags, to) != to)
		die("mremap");
}

/* perf_event_mmap() */
static void hooked_mmap(struct file *f)
{
	map_pages(f, 1);
	if (munmap(f->at, f->page))
		die("munmap");
}

/* vma_merge_extend(), where there is room; copy_vma(), there and back */
static void hooked_mremap(struct file *f)
{
	char *to = f->at + 8 * f->page;

	move(f->at, f->page, 2 * f->page, 0, f->at);
	move(f->at, 2 * f->page, f->page, 0, f->at);
	move(f->at, f->page, f->page, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	move(to, f->page, f->page, MREMAP_MAYMOVE | MREMAP_FIXED, f->at);
}

/* perf_event_mmap(), for both of them */
static void hooked_mprotect(struct file *f)
{
	if (mprotect(f->at, f->page, PROT_READ) ||
	    mprotect(f->at, f->page, PROT_READ | PROT_EXEC))
		die("mprotect");
}

/* wake_up_new_task(), exit_mmap() */
static void hooked_fork(struct file *f)
{
	(void)f;
	fork_once();
}

static const struct hooked {
	const char *name;
	void (*call)(struct file *f);
	/* So many in a piece that reading the clock weighs nothing. */
	int repeat;
} hooked_calls[] = {
	{ "mmap", hooked_mmap, 32 },
	{ "mremap", hooked_mremap, 32 },
	{ "mprotect", hooked_mprotect, 32 },
	{ "fork", hooked_fork, 1 },
};

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/*
 * The median, as a tick of the clock or work that the kernel has put off falls
 * into few of the pieces.
 */
static void time_hooked(const struct hooked *h, size_t count, const char *path)
{
	double *ns = calloc(count, sizeof(*ns));
	struct file f = {
		.fd = open(path, O_RDONLY | O_CLOEXEC),
		.page = (size_t)sysconf(_SC_PAGESIZE),
	};
	size_t i;
	int j;

	if (!ns || !count || f.fd < 0)
		die(path);
	f.at = mmap(NULL, 16 * f.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (f.at == MAP_FAILED || munmap(f.at, 16 * f.page))
		die("mmap");
	map_pages(&f, 1);
	if (h->call == hooked_mmap)
		munmap(f.at, f.page);
	h->call(&f);
	for (i = 0; i < count; i++) {
		double start = now();

		for (j = 0; j < h->repeat; j++)
			h->call(&f);
		ns[i] = (now() - start) / h->repeat;
	}
	qsort(ns, count, sizeof(*ns), by_value);
	printf("%.1f\n", ns[count / 2]);
}

static int hooked(const char *name, const char *count, const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(hooked_calls) / sizeof(hooked_calls[0]); i++)
		if (!strcmp(name, hooked_calls[i].name)) {
			time_hooked(&hooked_calls[i], strtoul(count, NULL, 10),
				    path);
			return 0;
		}
	fprintf(stderr, "subject: no calls are named %s\n", name);
	return 2;
}

static void dlopens(long count, const char *library)
{
	double start = now();
	long i;

	for (i = 0; i < count; i++) {
		void *handle = dlopen(library, RTLD_NOW);

		if (!handle) {
			fprintf(stderr, "subject: %s\n", dlerror());
			exit(1);
		}
		dlclose(handle);
	}
	printf("%.0f\n", (now() - start) / (double)count);
}

/* Each execs, so that none shares anything by fork(). */
static void sleepers(long count, char *self)
{
	char *argv[] = { self, "sleep", NULL };
	pid_t *pids = calloc((size_t)count, sizeof(*pids));
	char c;
	long i;

	if (!pids)
		die("sleepers");
	for (i = 0; i < count; i++)
		pids[i] = spawn(argv);
	/* Until all of them sleep. */
	sleep(5);
	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	for (i = 0; i < count; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	volatile char stack[STACK_BYTES];
	const char *what;
	struct job job = { .device = -1 };

	stack[0] = 0;
	stack[STACK_BYTES - 1] = stack[0];
	if (argc > 1 && !strcmp(argv[1], "-a")) {
		job.device = device();
		if (ioctl(job.device, BENCH_ATTACH))
			die("BENCH_ATTACH");
		argv++;
		argc--;
	}
	what = argc > 1 ? argv[1] : "";
	if (argc == 4 && !strcmp(what, "getppid")) {
		job.count = atol(argv[3]);
		SUBJECT[0](atol(argv[2]) - OUTER, 0, leaf_getppid, &job);
		printf("%.1f\n", job.ns);
	} else if (argc == 4 && (!strcmp(what, "busy") || !strcmp(what, "zero"))) {
		job.count = atol(argv[3]);
		SUBJECT[0](atol(argv[2]) - OUTER, 0,
			   *what == 'b' ? leaf_busy : leaf_zero, &job);
		printf("%.1f\n", job.ns);
	} else if (argc == 6 && !strcmp(what, "turns")) {
		job.count = atol(argv[3]);
		job.turns = atol(argv[4]);
		job.first = atoi(argv[5]);
		SUBJECT[0](atol(argv[2]) - OUTER, 0, leaf_turns, &job);
		if (job.first)
			printf("%.1f\n", job.ns);
	} else if (argc == 4 && !strcmp(what, "walk")) {
		if (job.device < 0)
			job.device = device();
		job.count = atol(argv[3]);
		for (job.walks.walker = BENCH_KUNWIND;
		     job.walks.walker <= BENCH_FRAME_POINTERS;
		     job.walks.walker++) {
			SUBJECT[0](atol(argv[2]) - OUTER, 0, leaf_walk, &job);
			printf("%.1f %u %u\n", job.ns, job.walks.frames,
			       job.walks.stop);
		}
	} else if (argc == 4 && !strcmp(what, "threads")) {
		threads(job.device < 0 ? device() : job.device, atol(argv[2]),
			atol(argv[3]));
	} else if (argc == 4 && !strcmp(what, "ask")) {
		ask(atol(argv[2]), atol(argv[3]));
	} else if (argc > 3 && !strcmp(what, "spawn")) {
		spawns(atol(argv[2]), argv + 3, now);
	} else if (argc > 3 && !strcmp(what, "work")) {
		spawns(atol(argv[2]), argv + 3, cpu_time);
	} else if (argc == 3 && !strcmp(what, "fork")) {
		forks(atol(argv[2]));
	} else if (argc == 4 && !strcmp(what, "dlopen")) {
		dlopens(atol(argv[2]), argv[3]);
	} else if (argc == 5 && !strcmp(what, "hooked")) {
		return hooked(argv[2], argv[3], argv[4]);
	} else if (argc == 3 && !strcmp(what, "sleepers")) {
		sleepers(atol(argv[2]), "/proc/self/exe");
	} else if (argc == 2 && !strcmp(what, "sleep")) {
		for (;;)
			pause();
	} else {
		fputs("subject: what? see tests/bench/vm/subject.c\n", stderr);
		return 2;
	}
	return 0;
}

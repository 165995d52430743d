// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A program whose call stacks are known: each system call below is made once
 * per line of demo.expected, from that chain of functions.
 *
 * It is compiled without frame pointers and traced stripped; the unstripped copy
 * tells the names. Its last act is to write its memory map to the file named by its
 * first argument, if there is one.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Nothing may be inlined, cloned or split, and a call at a function's end must stay
 * a call: the code that follows it, which the compiler cannot see through, is the reason.
 */
#define FRAME __attribute__((noinline, noclone, noipa))
#define STAY() __asm__ volatile("" ::: "memory")

FRAME static void bake(void)
{
	getppid();
	STAY();
}

FRAME static void knead(void)
{
	getuid();
	bake();
	STAY();
}

FRAME static void mix(void)
{
	knead();
	STAY();
}

/* The CFA cannot be computed from rsp here: the frame's size is known at run time only. */
FRAME static void weigh(size_t size)
{
	char *bowl = alloca(size);

	memset(bowl, 1, size);
	getgid();
	__asm__ volatile("" :: "r"(bowl) : "memory");
}

/* A stack aligned to more than the ABI gives. */
FRAME static void level(void)
{
	char tray[128] __attribute__((aligned(64)));

	memset(tray, 2, sizeof(tray));
	__asm__ volatile("" :: "r"(tray) : "memory");
	geteuid();
	STAY();
}

FRAME static int fold(int layers)
{
	int all = 1;

	if (layers)
		all += fold(layers - 1);
	else
		getegid();
	STAY();
	return all;
}

/* Called by libc. */
FRAME static int compare(const void *a, const void *b)
{
	getpgrp();
	STAY();
	return *(const int *)a - *(const int *)b;
}

FRAME static void sort(void)
{
	int loaves[2] = { 2, 1 };

	qsort(loaves, 2, sizeof(loaves[0]), compare);
	STAY();
}

/* Called by the kernel, in the middle of something else. */
FRAME static void ring(int signal)
{
	(void)signal;
	getsid(0);
	STAY();
}

FRAME static void wait_for_bell(void)
{
	/* Not raise(): the signal arrives as this system call returns. */
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	STAY();
}

FRAME static void alarm_clock(int flags)
{
	struct sigaction action = { .sa_handler = ring, .sa_flags = flags };
	static char other_stack[65536];
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	wait_for_bell();
	STAY();
}

FRAME static void *oven(void *arg)
{
	sched_yield();
	STAY();
	return arg;
}

FRAME static void second_baker(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, oven, NULL) == 0)
		pthread_join(thread, NULL);
	STAY();
}

FRAME static void write_map(const char *path)
{
	char buffer[4096];
	ssize_t size;
	int in = open("/proc/self/maps", O_RDONLY);
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	while ((size = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, size) != size)
			_exit(1);
	close(out);
	close(in);
}

int main(int argc, char **argv)
{
	mix();
	weigh(1000 + argc);
	level();
	fold(20);
	sort();
	alarm_clock(0);
	alarm_clock(SA_ONSTACK);
	second_baker();
	if (argc > 1)
		write_map(argv[1]);
	return 0;
}

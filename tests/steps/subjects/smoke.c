// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A short program in which every instruction has CFI: it is linked without the
 * compiler's start files, which have none. Recursion, tail calls, lazily bound
 * functions, callbacks, an unknown frame size, vfork, signals that nest and one
 * on an alternate stack.
 */
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define noinline __attribute__((noinline))

static volatile int handled, sink;

static noinline int last(int n)
{
	sink += n;
	return sink;
}

static noinline int tail(int n)
{
	sink++;
	return last(n + 1);
}

static noinline int deeper(int n)
{
	char *some = alloca((size_t)n * 24 + 24);

	memset(some, n, (size_t)n * 24);
	return n ? deeper(n - 1) + some[0] : tail(1);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void plain(int sig)
{
	handled += sig == SIGUSR1;
}

static void nesting(int sig)
{
	handled += sig == SIGUSR2;
	raise(SIGUSR1);
}

static noinline int child(void)
{
	int status = 0;
	pid_t pid = vfork();

	if (!pid)
		_exit(3);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static noinline __attribute__((used)) void run(void)
{
	static char alternate[16384];
	struct sigaction action = { .sa_handler = plain };
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	int numbers[] = { 5, 3, 9, 1 };

	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = nesting;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	sigaltstack(&stack, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	deeper(9);
	qsort(numbers, 4, sizeof(numbers[0]), compare);
	_exit(handled != 3 || numbers[0] != 1 || child() != 3);
}

__asm__(".globl _start\n.type _start,@function\n"
	"_start:\n.cfi_startproc\n.cfi_undefined rip\n"
	"xor %ebp, %ebp\nand $-16, %rsp\ncall run\nud2\n"
	".cfi_endproc\n.size _start, . - _start\n");

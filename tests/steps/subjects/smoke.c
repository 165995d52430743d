// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A short program in which every instruction has CFI: it is linked without the
 * compiler's start files, which have none. Recursion, tail calls, lazily bound
 * functions, callbacks, an unknown frame size, vfork, signals that nest, one on
 * an alternate stack and one on the first instruction of a function, and a call
 * on the last.
 */
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "child.h"

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

static void skip_ud2(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)info;
	handled += sig == SIGILL;
	u->uc_mcontext.gregs[REG_RIP] += 2;
}

/*
 * They stand next to each other: the return address into the first is the start of
 * the second, and the byte before the second belongs to the first.
 */
void ends_with_call(int status) __attribute__((noreturn));
void begins_with_fault(void);
__asm__(".globl ends_with_call\n.type ends_with_call,@function\n"
	"ends_with_call:\n.cfi_startproc\n"
	"sub $24, %rsp\n.cfi_adjust_cfa_offset 24\n"
	"call finish\n"
	".cfi_endproc\n.size ends_with_call, . - ends_with_call\n"
	".globl begins_with_fault\n.type begins_with_fault,@function\n"
	"begins_with_fault:\n.cfi_startproc\n"
	"ud2\nret\n"
	".cfi_endproc\n.size begins_with_fault, . - begins_with_fault\n");

static __attribute__((noreturn, used)) void finish(int status)
{
	sink += tail(status);
	_exit(status);
}

static noinline __attribute__((used)) void run(void)
{
	static char alternate[16384];
	struct sigaction action = { .sa_handler = plain };
	struct sigaction info = { .sa_sigaction = skip_ud2,
				  .sa_flags = SA_SIGINFO };
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	int numbers[] = { 5, 3, 9, 1 };

	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = nesting;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	sigaltstack(&stack, NULL);
	sigaction(SIGILL, &info, NULL);
	begins_with_fault();
	raise(SIGUSR1);
	raise(SIGUSR2);
	deeper(9);
	qsort(numbers, 4, sizeof(numbers[0]), compare);
	ends_with_call(handled != 4 || numbers[0] != 1 || child() != 3);
}

__asm__(".globl _start\n.type _start,@function\n"
	"_start:\n.cfi_startproc\n.cfi_undefined rip\n"
	"xor %ebp, %ebp\nand $-16, %rsp\ncall run\nud2\n"
	".cfi_endproc\n.size _start, . - _start\n");

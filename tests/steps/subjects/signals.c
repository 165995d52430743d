// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Signals: raised, from a timer, nested, on an alternate stack, left by
 * siglongjmp, and by a fault on the first instruction of a function.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define noinline __attribute__((noinline))

#ifdef __i386__
#define REG_RIP	REG_EIP
#endif

static sigjmp_buf env;
static volatile sig_atomic_t counts[65];

static noinline void count(int sig)
{
	counts[sig]++;
}

static void plain(int sig)
{
	count(sig);
}

static void nesting(int sig)
{
	count(sig);
	raise(SIGUSR1);
}

static void skip_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)info;
	count(sig);
	/* The two bytes of ud2. */
	u->uc_mcontext.gregs[REG_RIP] += 2;
}

static void jump_out(int sig)
{
	count(sig);
	siglongjmp(env, 1);
}

/* Faults on its very first instruction. */
void first_instruction(void);
__asm__(".text\n.globl first_instruction\n.type first_instruction,@function\n"
	"first_instruction:\n.cfi_startproc\nud2\nret\n.cfi_endproc\n"
	".size first_instruction, . - first_instruction\n");

static void on(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

static noinline int work(int n)
{
	volatile int sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += i;
	return sum;
}

int main(void)
{
	static char alternate[65536];
	struct sigaction info = { .sa_sigaction = skip_trap,
				  .sa_flags = SA_SIGINFO };
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct itimerval every = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
	volatile char *bad;
	int i;

	sigaltstack(&stack, NULL);
	on(SIGUSR1, plain, 0);
	on(SIGUSR2, nesting, SA_ONSTACK);
	on(SIGALRM, plain, SA_RESTART);
	on(SIGSEGV, jump_out, SA_ONSTACK | SA_NODEFER);
	on(SIGHUP, nesting, 0);
	sigaction(SIGILL, &info, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	kill(getpid(), SIGHUP);
	first_instruction();
	bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < 3; i++)
		if (!sigsetjmp(env, 1))
			*bad = 1;
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; counts[SIGALRM] < 10 && i < 2000; i++)
		work(20);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d %d %d\n", counts[SIGUSR1], counts[SIGUSR2], counts[SIGSEGV]);
	return counts[SIGUSR1] != 3 || counts[SIGSEGV] != 3;
}

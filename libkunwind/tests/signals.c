// SPDX-License-Identifier: MIT
/* Stacks in signal handlers, and of what they interrupted. */
#include "walks.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#define TIMER_STACKS	50
#define TIMER_USEC	1000
#define ALT_STACK	(256 * 1024)

void trap_first(void);
void trap_r10(void);

#define UD2_BYTES	2

static void push_interrupted(const void *context)
{
	const ucontext_t *uc = context;

	live_push((void *)uc->uc_mcontext.gregs[REG_RIP]);
}

static NOINLINE void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	(void)info;
	push_interrupted(context);
	CALLED();
	live_take(stacks);
	RETURNS();
	live_pop();
	uc->uc_mcontext.gregs[REG_RIP] += UD2_BYTES;
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler };

	action.sa_flags = SA_SIGINFO | flags;
	if (sigaction(signal, &action, NULL))
		tap_bail("sigaction: %s", strerror(errno));
}

static NOINLINE void trap_inline(void)
{
	CALLED();
	__asm__ volatile("ud2");
	RETURNS();
}

/* The trapping functions of the assembler note nothing: their return address is
 * the one frame between the interrupted address and the caller's.
 */
static NOINLINE void trap_in(void (*function)(void))
{
	CALLED();
	live_push_others();
	function();
	live_pop();
	RETURNS();
}

static NOINLINE void test_traps(const char *where, int flags)
{
	char name[96];

	handle(SIGILL, on_trap, flags);

	CALLED();
	trap_inline();
	RETURNS();
	snprintf(name, sizeof(name), "handler%s", where);
	live_report(stacks, LIVE_MAIN, name);

	CALLED();
	trap_in(trap_first);
	RETURNS();
	snprintf(name, sizeof(name), "handler%s, at a function's first byte", where);
	live_report(stacks, LIVE_MAIN, name);

	CALLED();
	trap_in(trap_r10);
	RETURNS();
	snprintf(name, sizeof(name), "handler%s, where the CFA is r10", where);
	live_report(stacks, LIVE_MAIN, name);

	signal(SIGILL, SIG_DFL);
}

static NOINLINE void on_raise(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	live_push_others();
	push_interrupted(context);
	CALLED();
	live_take(stacks);
	RETURNS();
	live_pop();
	live_pop();
}

static NOINLINE void test_raise(void)
{
	handle(SIGUSR1, on_raise, 0);
	CALLED();
	raise(SIGUSR1);
	RETURNS();
	live_report(stacks, LIVE_MAIN, "handler in raise()");
}

/* A signal in a handler: two signal frames. */
static NOINLINE void on_outer(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	push_interrupted(context);
	CALLED();
	trap_inline();
	RETURNS();
	live_pop();
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 1;
}

static NOINLINE void test_nested(const char *name, int outer, int inner)
{
	handle(SIGILL, on_trap, inner);
	handle(SIGSEGV, on_outer, outer);
	CALLED();
	/* Privileged, and one byte: SIGSEGV. */
	__asm__ volatile("hlt");
	RETURNS();
	live_report(stacks, LIVE_MAIN, name);
	signal(SIGILL, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
}

static NOINLINE void test_alternate(void)
{
	static char bytes[ALT_STACK];
	stack_t alternate = { .ss_sp = bytes, .ss_size = sizeof(bytes) };

	CALLED();
	if (sigaltstack(&alternate, NULL))
		tap_bail("sigaltstack: %s", strerror(errno));
	test_traps(" on an alternate stack", SA_ONSTACK);
	test_nested("handler in a handler on an alternate stack", SA_ONSTACK,
		    SA_ONSTACK);
	test_nested("handler on an alternate stack in a handler", 0, SA_ONSTACK);
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
	RETURNS();
}

/*
 * Interrupted anywhere: in prologues, epilogues, PLT entries, libc. Where that
 * was is not known before, so the truth cannot be noted: the tools must agree.
 */

/* libgcc's; its header does not declare it. */
struct dwarf_eh_bases {
	void *text;
	void *data;
	void *function;
};

const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

static volatile sig_atomic_t timer_taken;
static volatile sig_atomic_t timer_good;
static struct live_stacks *volatile timer_bad;

/*
 * The linker describes the PLT of a dynamic program, but not that of a static one
 * (for IFUNCs): nobody can prove what called an address without an FDE.
 */
static int has_fde(const ucontext_t *uc)
{
	struct dwarf_eh_bases bases;

	return _Unwind_Find_FDE((void *)uc->uc_mcontext.gregs[REG_RIP],
				&bases) != NULL;
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
	struct live_verdict verdict;

	(void)signal;
	(void)info;
	if (timer_taken == TIMER_STACKS || timer_bad || !has_fde(context))
		return;
	live_take(stacks);
	verdict = live_judge(stacks, LIVE_MAIN);
	timer_taken++;
	if (verdict.complete && verdict.like_libunwind && verdict.like_libc)
		timer_good++;
	else
		timer_bad = stacks;
}

static NOINLINE int busy(int value)
{
	char text[64];

	memset(text, value, sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	return strlen(text) + strtol("12345", NULL, 10) + value;
}

static NOINLINE void test_timer(void)
{
	struct itimerval timer = {
		.it_interval.tv_usec = TIMER_USEC,
		.it_value.tv_usec = TIMER_USEC,
	};

	handle(SIGALRM, on_timer, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (timer_taken < TIMER_STACKS && !timer_bad)
		sink = busy(sink) & 1;
	timer = (struct itimerval) { 0 };
	setitimer(ITIMER_REAL, &timer, NULL);
	sink = 1;

	tap_ok(timer_good == TIMER_STACKS,
	       "interrupted by a timer: %d stacks complete, proven, like the others'",
	       TIMER_STACKS);
	if (timer_bad)
		live_print(timer_bad);
}

void test_signals(void)
{
	CALLED();
	test_traps("", 0);
	test_raise();
	test_nested("handler in a handler", 0, 0);
	test_alternate();
	test_timer();
	RETURNS();
}

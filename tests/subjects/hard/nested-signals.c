// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A signal in a handler of a signal in a handler: each interrupted function is a
 * frame of its own. Then the same with the middle one on an alternate stack.
 *
 * stack: @ask third ... @trap_c second ... @trap_b first ... @trap_a main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask third ... @trap_c second ... @trap_b first ... @trap_a main ... _start
 * stop: COMPLETE, all proven
 */
#include "hard.h"

static char other[65536];

FRAME static void trap_a(void)
{
	__asm__ volatile("ud2");
}

FRAME static void trap_b(void)
{
	__asm__ volatile("int3");
}

FRAME static void trap_c(void)
{
	__asm__ volatile("hlt");
}

FRAME static void third(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	ask();
	/* hlt is privileged, and one byte. */
	skip(context, 1);
}

/* int3 leaves rip behind itself. */
FRAME static void second(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	trap_c();
	STAY();
}

FRAME static void first(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	trap_b();
	skip_ud2(context);
}

int main(void)
{
	begin();
	handle(SIGILL, first, 0);
	handle(SIGTRAP, second, 0);
	handle(SIGSEGV, third, 0);
	trap_a();
	alternate_stack(other, sizeof(other));
	handle(SIGTRAP, second, SA_ONSTACK);
	trap_a();
	report();
	return 0;
}

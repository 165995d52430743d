// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Stacks that the program makes itself: makecontext(), and handlers on them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK	65536

static ucontext_t back, contexts[3];
static int done, order;

static __attribute__((noinline)) void yield(int from)
{
	order = order * 3 + from;
	swapcontext(&contexts[from], &back);
}

static __attribute__((noinline)) void deep(int from, int n)
{
	if (n)
		deep(from, n - 1);
	else
		yield(from);
	order++;
}

static void handler(int sig)
{
	order += sig;
}

static void work(int from)
{
	deep(from, from * 3);
	if (from == 1)
		raise(SIGUSR1);
	deep(from, 1);
	done++;
}

int main(void)
{
	int i, round;

	signal(SIGUSR1, handler);
	for (i = 0; i < 3; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(STACK);
		contexts[i].uc_stack.ss_size = STACK;
		contexts[i].uc_link = &back;
		makecontext(&contexts[i], (void (*)(void))work, 1, i);
	}
	for (round = 0; round < 3; round++)
		for (i = 0; i < 3; i++)
			swapcontext(&back, &contexts[i]);
	printf("%d %d\n", done, order);
	return done != 3;
}

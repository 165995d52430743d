// SPDX-License-Identifier: MIT
/*
 * For kunwind-test.ko: asks for stacks whose outer frames lie on a page that is not
 * there, so that each walk touches it, and an exception comes in the middle of it.
 *
 * usage: nested ROUNDS
 *
 * The stack is shared memory: to have its page forgotten loses nothing.
 */
#include <err.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "request.h"

#define STACK		(32 * PAGE)

static int device;
static unsigned long rounds, nr_cut, nr_whole;
static char *stack;
static ucontext_t outside, inside;

static NOINLINE void ask(void)
{
	struct request request;
	long error;

	request.stack = good_stack(64);
	error = raw_ioctl(device, KUNWIND_IOC_STACK, &request);
	if (error)
		errx(2, "the ioctl: %s", strerror(-error));
	if (request.stack.stop == KUNWIND_STOP_STACK_FAULT && request.stack.count > 1)
		nr_cut++;
	if (request.stack.stop == KUNWIND_STOP_COMPLETE)
		nr_whole++;
}

/* What is below this function's frame is some pages away from what is above it. */
static NOINLINE void inner(void)
{
	char room[8 * PAGE];

	__asm__ volatile("" :: "r"(room) : "memory");
	for (unsigned long i = 0; i < rounds; i++) {
		if (madvise(stack + STACK - 2 * PAGE, 2 * PAGE, MADV_DONTNEED))
			err(2, "madvise");
		ask();
	}
	__asm__ volatile("" :: "r"(room) : "memory");
}

static void outer(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: nested ROUNDS");
	rounds = strtoul(argv[1], NULL, 0);
	device = open_device();
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || getcontext(&inside))
		err(2, "no stack");
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = STACK;
	inside.uc_link = &outside;
	makecontext(&inside, outer, 0);
	if (swapcontext(&outside, &inside))
		err(2, "swapcontext");
	printf("# %lu walks ended at the page, %lu were whole\n", nr_cut, nr_whole);
	return nr_cut != rounds;
}

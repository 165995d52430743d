/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the hard cases share: they ask for their own stack and print it, their
 * memory map, and the names of code that nm does not know.
 *
 * The comment at a program's head tells what its stacks must be, innermost first,
 * one "stack:" for each ask(), and why. tests/oracles/check-hard reads it there:
 *
 *   name      a return address in this function (the call is before it)
 *   @name     an address in this function: the innermost frame, or an interrupted one
 *   @name+0   the same, and at this very place
 *   name*N    N of them
 *   0xN       this address
 *   ...       one or more frames of functions that the line does not name
 *   [vdso]    a frame in the vDSO
 *
 * and "stop:" the reason, with "all proven", or how many frames are. "entry NAME:"
 * and "exit NAME:" are the same for the stack of an LTTng event of a system call.
 */
#ifndef KUNWIND_HARD_H
#define KUNWIND_HARD_H

#include <err.h>
#include <fcntl.h>
#include <linux/kunwind.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Nothing is inlined or cloned, and what follows a call keeps it from being a jump. */
#define FRAME	__attribute__((noinline, noclone, noipa))
#define STAY()	__asm__ volatile("" ::: "memory")

#define MAX_ASKED	8

struct answer {
	struct kunwind_stack head;
	struct kunwind_frame frames[KUNWIND_MAX_FRAMES];
	long error;
};

static struct answer answers[MAX_ASKED];
static unsigned int asked;
static int device = -1;

/* For assembly and generated code. */
void ask(void);

FRAME void ask(void)
{
	struct answer *a = &answers[asked++];

	a->head = (struct kunwind_stack) {
		.size = sizeof(a->head),
		.capacity = KUNWIND_MAX_FRAMES,
	};
	/* In line, so that the innermost frame is this function. */
#ifdef __x86_64__
	__asm__ volatile("syscall"
			 : "=a"(a->error)
			 : "0"((long)SYS_ioctl), "D"((long)device),
			   "S"((long)KUNWIND_IOC_STACK), "d"(&a->head)
			 : "rcx", "r11", "memory");
#else
	__asm__ volatile("int $0x80"
			 : "=a"(a->error)
			 : "0"((long)SYS_ioctl), "b"((long)device),
			   "c"((long)KUNWIND_IOC_STACK), "d"(&a->head)
			 : "memory");
#endif
}

/* From now on this process has a stack. */
static inline void begin(void)
{
	device = open("/dev/kunwind", O_RDONLY | O_CLOEXEC);
	if (device < 0)
		err(1, "/dev/kunwind");
}

/* Code that nm does not know. */
static inline void label(const char *name, const void *start, size_t size)
{
	printf("label %s %#lx %#lx\n", name, (unsigned long)start,
	       (unsigned long)start + size);
}

static inline void report(void)
{
	static const char * const names[] = {
#define HARD_NAME(number, name, sentence) #name,
		KUNWIND_STOPS(HARD_NAME)
#undef HARD_NAME
	};
	char line[4096];
	FILE *maps;
	unsigned int i, n;

	for (i = 0; i < asked; i++) {
		struct answer *a = &answers[i];

		if (a->error)
			errx(1, "ask() gave %ld", a->error);
		printf("stack %u %u %s", a->head.count, a->head.proven,
		       names[a->head.stop]);
		for (n = 0; n < a->head.count; n++)
			printf(" %#lx", (unsigned long)a->frames[n].address);
		printf("\n");
	}
	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		err(1, "/proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		printf("map %s", line);
	fclose(maps);
	fflush(stdout);
}

static inline void handle(int number, void (*handler)(int, siginfo_t *, void *),
			  int flags)
{
	struct sigaction action = { .sa_sigaction = handler };

	action.sa_flags = SA_SIGINFO | flags;
	if (sigaction(number, &action, NULL))
		err(1, "sigaction");
}

static inline void alternate_stack(void *at, size_t size)
{
	stack_t stack = { .ss_sp = at, .ss_size = size };

	if (sigaltstack(&stack, NULL))
		err(1, "sigaltstack");
}

/* Go on @bytes behind what was interrupted. */
static inline void skip(void *context, unsigned int bytes)
{
#ifdef __x86_64__
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += bytes;
#else
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EIP] += bytes;
#endif
}

/* Go on behind an ud2. */
static inline void skip_ud2(void *context)
{
	skip(context, 2);
}

/* int main() of a program whose one function, called by caller(), asks. */
#define MAIN_OF(function) \
	FRAME static void caller(void) \
	{ \
		function(); \
		STAY(); \
	} \
	int main(void) \
	{ \
		begin(); \
		caller(); \
		report(); \
		return 0; \
	}

#endif /* KUNWIND_HARD_H */

// SPDX-License-Identifier: MIT
/*
 * For kunwind-test.ko: enters the kernel from several places as often as it can, while
 * NMIs are aimed at its CPU. See tests/module/chains.c.
 *
 * usage: entry SECONDS
 *
 * The callers of each place are those that glibc's backtrace() finds.
 */
#include <err.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "parameters.h"

#define NOINLINE	__attribute__((noinline, noclone))
#define CPU		"1"

extern uint32_t note;
uint32_t note;
/* SYSCALL and SYSRET leave the stack pointer as it is. */
extern uint64_t kernel_sp, unmapped_sp;
uint64_t kernel_sp, unmapped_sp;

/* Between low and high the word is 256 + n. */
#define INSIDE(n, enter) \
	"	movl $256 + " #n ", note(%rip)\n" \
	"	.globl low" #n ", high" #n "\n" \
	"low" #n ":\n" enter \
	"high" #n ":	movl $" #n ", note(%rip)\n"

#define PLACE(n, enter) \
	extern const char low##n[], high##n[]; \
	void place##n(void); \
	__asm__(".text\n.type place" #n ", @function\n" \
		"place" #n ":\n.cfi_startproc\n" enter \
		"	ret\n.cfi_endproc\n.size place" #n ", . - place" #n "\n")

/* Two system calls, and one by an interrupt gate. */
PLACE(1, INSIDE(1, "	movl $110, %eax\n	syscall\n"));
PLACE(2, INSIDE(2, "	movl $102, %eax\n	syscall\n"));
PLACE(3, INSIDE(3, "	movl $20, %eax\n	int $0x80\n"));
#define WITH_SP(n, sp) \
	PLACE(n, "	pushq %r12\n" \
		 ".cfi_adjust_cfa_offset 8\n" \
		 ".cfi_rel_offset %r12, 0\n" \
		 "	movq %rsp, %r12\n" \
		 ".cfi_def_cfa_register %r12\n" \
		 "	movq " #sp "(%rip), %rsp\n" \
		 INSIDE(n, "	movl $110, %eax\n	syscall\n") \
		 "	movq %r12, %rsp\n" \
		 ".cfi_def_cfa_register %rsp\n" \
		 "	popq %r12\n" \
		 ".cfi_adjust_cfa_offset -8\n" \
		 ".cfi_restore %r12\n")
/* A stack pointer into this task's kernel stack, and one into a stack of the CPU that is not mapped. */
WITH_SP(4, kernel_sp);
WITH_SP(5, unmapped_sp);

static uint64_t address_of(const char *stack)
{
	char path[256], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", stack);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		err(2, "%s", stack);
	close(fd);
	return strtoull(text, NULL, 16);
}

static const struct {
	const char *low;
	const char *high;
	/* Its callers cannot be read where the stack pointer is none. */
	int judged;
} places[] = {
	{ low1, high1, 1 }, { low2, high2, 1 }, { low3, high3, 1 }, { low4, high4, 0 },
	{ low5, high5, 0 },
};

static unsigned int telling;

/* Called as a place is: what is behind it are that place's callers. */
static NOINLINE void tell(void)
{
	void *frames[30];
	char text[1024];
	int count = places[telling].judged ? backtrace(frames, 30) : 0, i;
	size_t used;

	used = snprintf(text, sizeof(text), "%lx %lx %lx", (unsigned long)&note,
			(unsigned long)places[telling].low,
			(unsigned long)places[telling].high);
	for (i = 1; i < count; i++)
		used += snprintf(text + used, sizeof(text) - used, " %lx",
				 (unsigned long)frames[i]);
	set("chain", text);
	telling++;
}

typedef void (*function)(void);

/* Ways of different lengths. */
static NOINLINE void by_one(function f)
{
	f();
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void by_two(function f)
{
	char room[100];

	__asm__ volatile("" :: "r"(room) : "memory");
	by_one(f);
	__asm__ volatile("" :: "r"(room) : "memory");
}

static NOINLINE void by_three(function f)
{
	char room[300];

	__asm__ volatile("" :: "r"(room) : "memory");
	by_two(f);
	__asm__ volatile("" :: "r"(room) : "memory");
}

static NOINLINE void go_round(volatile function *to)
{
	by_one(to[0]);
	by_three(to[1]);
	by_two(to[2]);
	by_one(to[3]);
	by_two(to[4]);
}

int main(int argc, char **argv)
{
	/* The compiler must not know: all rounds, also that which tells, come from one call. */
	volatile function to[] = { tell, tell, tell, tell, tell };
	volatile unsigned long i;
	cpu_set_t cpus;
	time_t end;

	if (argc != 2)
		errx(2, "usage: entry SECONDS");
	CPU_ZERO(&cpus);
	CPU_SET(atoi(CPU), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(2, "CPU " CPU);
	kernel_sp = address_of("stack") + 4096;
	unmapped_sp = address_of("unmapped_stack") - 256;
	end = time(NULL) + atoi(argv[1]);
	for (i = 0; i % 1024 || time(NULL) < end; i++) {
		go_round(to);
		if (i)
			continue;
		to[0] = place1;
		to[1] = place2;
		to[2] = place3;
		to[3] = place4;
		to[4] = place5;
		set("aim", CPU);
	}
	note = 0;
	set("aim", "-1");
	printf("# %lu entries\n", 5 * i);
	return 0;
}

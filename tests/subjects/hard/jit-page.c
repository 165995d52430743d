// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Code in anonymous memory, as a JIT compiler makes it. By its frame pointer, or by the
 * code up to its ret, its caller is found, and marked. A function that returns in another
 * way ends the walk, which says why.
 *
 * stack: @ask jit_frame caller main ... _start
 * stop: COMPLETE, 2 proven
 * stack: @ask jit_end caller main ... _start
 * stop: COMPLETE, 2 proven
 * stack: @ask jit_nothing
 * stop: NO_MAPPING, all proven
 */
#include "hard.h"

/* push %rbp; mov %rsp,%rbp; mov $ask,%rax; call *%rax; pop %rbp; ret */
static const unsigned char frame[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
	0xff, 0xd0, 0x5d, 0xc3,
};

/* push %rbp; mov $0x5a5a5a5a,%ebp; nop; mov $ask,%rax; call *%rax; pop %rbp; ret */
static const unsigned char end[] = {
	0x55, 0xbd, 0x5a, 0x5a, 0x5a, 0x5a, 0x90, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
	0xff, 0xd0, 0x5d, 0xc3,
};

/* The same with xor %eax,%eax after the call; and pop %rcx; jmp *%rcx, not ret. */
static const unsigned char nothing[] = {
	0x55, 0xbd, 0x5a, 0x5a, 0x5a, 0x5a, 0x90, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
	0xff, 0xd0, 0x31, 0xc0, 0x5d, 0x59, 0xff, 0xe1,
};

FRAME static void caller(void *function)
{
	((void (*)(void))function)();
	STAY();
}

static void *make(const char *name, const unsigned char *code, size_t size, int at)
{
	void (*target)(void) = ask;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		err(1, "mmap");
	memcpy(page, code, size);
	memcpy(page + at, &target, sizeof(target));
	label(name, page, size);
	return page;
}

int main(void)
{
	void *first, *second, *third;

	begin();
	first = make("jit_frame", frame, sizeof(frame), 6);
	second = make("jit_end", end, sizeof(end), 9);
	third = make("jit_nothing", nothing, sizeof(nothing), 9);
	caller(first);
	caller(second);
	caller(third);
	report();
	return 0;
}

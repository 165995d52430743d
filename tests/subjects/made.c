// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * System calls below code that is made at run time, which no unwind table describes: with
 * frame pointers, without, and with calls whose code is gone when they are on the stack. In the
 * end, below code that never returns, on a stack of its own, where rbp leads to what is no frame.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096

typedef void (*function)(void);
typedef void (*caller)(function callee);

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char with_frame_pointer[] = {
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3
};

/* sub $24, %rsp; call *%rdi; add $24, %rsp; ret */
static const unsigned char without[] = {
	0x48, 0x83, 0xec, 0x18, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3
};

/*
 * mov %rdi, %rbp; mov %rsi, %rsp; call 1f; mov $__NR_exit_group, %eax; xor %edi, %edi; syscall;
 * hlt; 1: mov $__NR_getppid, %eax; syscall; ret
 */
static const unsigned char endless[] = {
	0x48, 0x89, 0xfd, 0x48, 0x89, 0xf4, 0xe8, 0x0a, 0x00, 0x00, 0x00,
	0xb8, 0xe7, 0x00, 0x00, 0x00, 0x31, 0xff, 0x0f, 0x05, 0xf4,
	0xb8, 0x6e, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3
};

/* As if it were a frame, of the outermost function, to which no call returns. */
static const unsigned long no_frame[] = { 0, 0x7654321 };
static unsigned long stack[64];

static unsigned char *page;

static void make(const unsigned char *code, size_t size)
{
	page = mmap(page, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (page ? MAP_FIXED : 0), -1, 0);
	if (page == MAP_FAILED)
		_exit(1);
	memcpy(page, code, size);
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		_exit(1);
}

static inline void call_kernel(void)
{
	long ret;

	/* libc's function has no frame. */
	__asm__ volatile("syscall" : "=a"(ret) : "0"(SYS_getppid)
			 : "rcx", "r11", "memory");
}

static __attribute__((noinline)) void leaf(void)
{
	int i;

	for (i = 0; i < 100; i++)
		call_kernel();
}

static __attribute__((noinline)) void between(void)
{
	((caller)page)(leaf);
	__asm__ volatile("");
}

/* The code that it returns to goes, and comes back. */
static __attribute__((noinline)) void unmap(void)
{
	unsigned char code[sizeof(without)];

	memcpy(code, page, sizeof(code));
	munmap(page, PAGE);
	leaf();
	make(code, sizeof(code));
}

int main(void)
{
	make(with_frame_pointer, sizeof(with_frame_pointer));
	((caller)page)(between);
	((caller)page)(unmap);
	make(without, sizeof(without));
	((caller)page)(between);
	((caller)page)(unmap);
	make(endless, sizeof(endless));
	((void (*)(const unsigned long *, unsigned long *))page)(no_frame, stack + 32);
	return 0;
}

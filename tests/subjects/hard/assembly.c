// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Assembly with CFI is like any other code. Without CFI there is no proof: by its frame
 * pointer, or by the code up to its ret, its caller is found, and marked: also from another stack,
 * if that code finds its own as Go's runtime does. A function that returns in another way ends the
 * walk.
 *
 * stack: @ask with_cfi caller main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask with_frame caller main ... _start
 * stop: COMPLETE, 2 proven
 * stack: @ask with_end caller main ... _start
 * stop: COMPLETE, 2 proven
 * stack: @ask with_stack caller main ... _start
 * stop: COMPLETE, 2 proven
 * stack: @ask with_nothing
 * stop: NO_RULE, all proven
 */
#include "hard.h"

void with_cfi(void);
void with_frame(void);
void with_end(void);
void with_stack(void);
void with_nothing(void);

static char other[65536] __attribute__((aligned(16)));
/* The top of that stack, and where rsp is meanwhile. */
static void *stacks[2] = { other + sizeof(other), NULL };
__thread void **thread_stacks = stacks;

__asm__(".pushsection .text\n"
	".globl with_cfi\n"
	".type with_cfi, @function\n"
	"with_cfi: .cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbx, -16\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 24\n"
	".cfi_offset %rbp, -24\n"
	"sub $56, %rsp\n"
	".cfi_def_cfa_offset 80\n"
	"mov $-1, %rbp\n"
	"call ask\n"
	"add $56, %rsp\n"
	".cfi_def_cfa_offset 24\n"
	"pop %rbp\n"
	".cfi_def_cfa_offset 16\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size with_cfi, . - with_cfi\n"
	".balign 64\n"
	".globl with_frame\n"
	".type with_frame, @function\n"
	"with_frame:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"sub $48, %rsp\n"
	"call ask\n"
	"leave\n"
	"ret\n"
	".size with_frame, . - with_frame\n"
	".balign 64\n"
	".globl with_end\n"
	".type with_end, @function\n"
	"with_end:\n"
	"push %rbp\n"
	"push %r13\n"
	"sub $40, %rsp\n"
	"mov $0x5a5a5a5a, %ebp\n"
	"call ask\n"
	"add $40, %rsp\n"
	"pop %r13\n"
	"pop %rbp\n"
	"ret\n"
	".size with_end, . - with_end\n"
	".balign 64\n"
	".globl with_stack\n"
	".type with_stack, @function\n"
	"with_stack:\n"
	"mov %fs:thread_stacks@tpoff, %rax\n"
	"mov %rsp, 8(%rax)\n"
	"mov (%rax), %rsp\n"
	"call ask\n"
	"mov %fs:thread_stacks@tpoff, %rax\n"
	"mov 8(%rax), %rsp\n"
	"ret\n"
	".size with_stack, . - with_stack\n"
	".balign 64\n"
	".globl with_nothing\n"
	".type with_nothing, @function\n"
	"with_nothing:\n"
	"push %rbp\n"
	"sub $48, %rsp\n"
	"mov $0x5a5a5a5a, %ebp\n"
	"call ask\n"
	"xor %eax, %eax\n"
	"add $48, %rsp\n"
	"pop %rbp\n"
	"pop %rcx\n"
	"jmp *%rcx\n"
	".size with_nothing, . - with_nothing\n"
	".popsection");

FRAME static void caller(void (*function)(void))
{
	function();
	STAY();
}

int main(void)
{
	begin();
	caller(with_cfi);
	caller(with_frame);
	caller(with_end);
	caller(with_stack);
	caller(with_nothing);
	report();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * main(), which calls subject_main(): the outermost frame of the chain of frame
 * pointers. libc has none, and something else in rbp.
 *
 * The psABI ends the chain with rbp = 0, as _start does. The kernel's walk then reads
 * at address 0, which is a page fault. With RECORD the chain ends with two words of
 * 0 instead, a frame without a return address, where the walk ends without a fault.
 */
/* What it is in subject.c. */
#undef main
	.text
	.globl	main
	.type	main, @function
main:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	/* rsp is a multiple of 16 now. */
#ifdef RECORD
	push	$0
	push	$0
	.cfi_def_cfa_offset 32
	mov	%rsp, %rbp
#else
	xor	%ebp, %ebp
#endif
	call	subject_main
#ifdef RECORD
	add	$16, %rsp
	.cfi_def_cfa_offset 16
#endif
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	main, . - main
	.section .note.GNU-stack, "", @progbits

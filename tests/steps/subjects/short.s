# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Functions without unwind information that are so short that they look like padding: one behind _start, whose rule ends
# stacks, and one behind an ordinary function.
	.text
	.p2align 4
	.globl _start
_start:
	.cfi_startproc
	.cfi_undefined rip
	call	first
	call	second
	xor	%edi, %edi
	mov	$60, %eax
	syscall
	nop
	nop
	hlt
	.cfi_endproc
# 9 bytes, up to the next function.
short:
	push	%rbx
	mov	$7, %ebx
	pop	%rbx
	nop
	ret

	.p2align 4
first:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	call	short
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.p2align 4
before:
	.cfi_startproc
	ret
	nop
	nop
	.cfi_endproc
# 12 bytes, which are not aligned.
longer:
	push	%rbx
	push	%r12
	mov	$7, %ebx
	pop	%r12
	pop	%rbx
	ret

	.p2align 4
second:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	call	before
	call	longer
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits

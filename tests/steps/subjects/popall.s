# SPDX-License-Identifier: GPL-2.0-only OR MIT
# _start takes all of its arguments off the stack, as programs in assembly do, before it calls.
	.text
	.globl _start
_start:
	pop	%rcx
1:	pop	%rdi
	test	%rdi, %rdi
	jnz	1b
	call	f
	mov	$60, %eax
	xor	%edi, %edi
	syscall
f:
	sub	$96, %rsp
	mov	$3, %ecx
2:	dec	%ecx
	jnz	2b
	add	$96, %rsp
	ret
	.section .note.GNU-stack, "", @progbits

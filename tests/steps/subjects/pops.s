# SPDX-License-Identifier: GPL-2.0-only OR MIT
# _start pops its arguments, as programs in assembly do. So what it calls has its return address above the process's
# first word. There is no unwind information.
	.text
	.globl _start
_start:
	pop	%rdi
	pop	%rsi
	call	sum
	mov	%eax, %edi
	mov	$60, %eax
	syscall

# Return: the sum of the numbers up to that of the arguments, minus that sum.
sum:
	push	%rbx
	push	%r12
	xor	%ebx, %ebx
	xor	%r12d, %r12d
1:	add	%rdi, %rbx
	call	add
	dec	%rdi
	jnz	1b
	sub	%r12, %rbx
	mov	%ebx, %eax
	pop	%r12
	pop	%rbx
	ret

add:
	add	%rdi, %r12
	ret
	.section .note.GNU-stack, "", @progbits

# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Functions that keep their return address in a register during a system call, as vfork() of musl and klibc does. The
# first has no unwind information; that of the second does not say so. Their caller is _start.
	.text
	.globl _start
_start:
	call	identify
	call	described
	mov	$60, %eax
	xor	%edi, %edi
	syscall

identify:
	pop	%rdx
	mov	$39, %eax
	syscall
	push	%rdx
	ret

described:
	.cfi_startproc
	pop	%rdx
	mov	$39, %eax
	syscall
	push	%rdx
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits

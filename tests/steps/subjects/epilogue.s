# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A function whose unwind information has no row for its epilogue, as gcc before 4.5 made it. Its caller is _start.
	.text
	.globl _start
_start:
	call	f
	mov	$60, %eax
	xor	%edi, %edi
	syscall
f:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	$1, %ebx
	pop	%rbx
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits

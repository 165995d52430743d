# SPDX-License-Identifier: GPL-2.0-only OR MIT
# _start as in glibc with CET: that its return address is undefined holds only behind its first instruction.
	.text
	.globl _start
_start:
	.cfi_startproc
	endbr64
	.cfi_undefined rip
	xor	%ebp, %ebp
	call	work
	xor	%edi, %edi
	mov	$60, %eax
	syscall
	.cfi_endproc

work:
	.cfi_startproc
	mov	$9, %ecx
1:	dec	%ecx
	jnz	1b
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits

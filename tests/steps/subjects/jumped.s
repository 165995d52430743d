# SPDX-License-Identifier: GPL-2.0-only OR MIT
# _start calls a function before it, which jumps to one behind it, as an entry of a PLT does. Its return address is next to
# the process's first word. There is no unwind information.
	.text
begin:	jmp	count

	.globl _start
_start:
	xor	%ebp, %ebp
	mov	(%rsp), %rdi
	and	$-16, %rsp
	call	begin
	mov	%eax, %edi
	mov	$60, %eax
	syscall

# Return: 0.
count:
	add	$40, %rdi
1:	dec	%rdi
	jnz	1b
	xor	%eax, %eax
	ret

	.section .note.GNU-stack,"",@progbits

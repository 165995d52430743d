/* SPDX-License-Identifier: MIT */
/*
 * Frames that a compiler makes rarely, or not at a place of our choice. Each
 * traps or calls where a rule of interest holds.
 */
	.text

/* void trap_first(void): traps with its first instruction as the next one, where
 * the address before belongs to another function.
 */
	.globl	trap_first
	.type	trap_first, @function
	.p2align 4
	.cfi_startproc
	/* Were this used for trap_first, the CFA would be wrong. */
	.cfi_def_cfa_offset 4096
	ud2
	.cfi_endproc
trap_first:
	.cfi_startproc
	ud2
	ret
	.cfi_endproc
	.size	trap_first, . - trap_first

/* void trap_r10(void): CFA = r10, as in the prologue of a realigned stack. */
	.globl	trap_r10
	.type	trap_r10, @function
	.p2align 4
trap_r10:
	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-64, %rsp
	sub	$64, %rsp
	ud2
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	trap_r10, . - trap_r10

/* void call_r12(void (*callee)(void *), void *arg): CFA = r12 + 16 over a call:
 * its value must be followed through the callees.
 */
	.globl	call_r12
	.type	call_r12, @function
	.p2align 4
call_r12:
	.cfi_startproc
	push	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset %r12, -16
	mov	%rsp, %r12
	.cfi_def_cfa_register %r12
	and	$-256, %rsp
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	mov	%r12, %rsp
	.cfi_def_cfa_register %rsp
	pop	%r12
	.cfi_restore %r12
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	call_r12, . - call_r12

/* void call_saved(void (*callee)(void *), void *arg): as a caller of call_r12(), it
 * has its own idea of r12, rbx and rbp, and its CFA is rbx + 48.
 */
	.globl	call_saved
	.type	call_saved, @function
	.p2align 4
call_saved:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	push	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	push	%r12
	.cfi_def_cfa_offset 32
	.cfi_offset %r12, -32
	sub	$16, %rsp
	.cfi_def_cfa_offset 48
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	mov	$-1, %rbp
	mov	$-1, %r12
	and	$-512, %rsp
	call	call_r12
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	add	$16, %rsp
	.cfi_def_cfa_offset 32
	pop	%r12
	.cfi_restore %r12
	.cfi_def_cfa_offset 24
	pop	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	call_saved, . - call_saved

/* void call_expr(void (*callee)(void *), void *arg): CFA = *(rbp - 8), the form of
 * gcc's realigned functions that take arguments from the stack.
 */
	.globl	call_expr
	.type	call_expr, @function
	.p2align 4
call_expr:
	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-128, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	/* DW_CFA_expression rbp: DW_OP_breg6 0 */
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
	push	%r10
	/* DW_CFA_def_cfa_expression: DW_OP_breg6 -8; DW_OP_deref */
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
	sub	$120, %rsp
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	mov	-8(%rbp), %r10
	.cfi_def_cfa %r10, 0
	mov	(%rbp), %rbp
	.cfi_restore %rbp
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	call_expr, . - call_expr

	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* x86-64 as the psABI describes it: registers, words, the call instruction. */
#ifndef KUW_ARCH_X86_64_H
#define KUW_ARCH_X86_64_H

#include "kunwind_port.h"

/* ELF's e_machine. */
#define KUW_ELF_MACHINE		62

#define KUW_WORD		8

/* DWARF register numbers (psABI x86-64, figure 3.36). */
#define KUW_RAX			0
#define KUW_RBX			3
#define KUW_RSI			4
#define KUW_RDI			5
#define KUW_RBP			6
#define KUW_RSP			7
#define KUW_R12			12
#define KUW_R13			13
#define KUW_R14			14
#define KUW_R15			15
#define KUW_RA			16
#define KUW_NR_REGS		17

/* The callee-saved registers that a table stores compactly, rbp first. */
#define KUW_NR_SAVES		6
#define KUW_SAVED_REGS { KUW_RBP, KUW_RBX, KUW_R12, KUW_R13, KUW_R14, KUW_R15 }
#define KUW_CALLEE_SAVED \
	(1u << KUW_RBP | 1u << KUW_RBX | 1u << KUW_R12 | 1u << KUW_R13 | \
	 1u << KUW_R14 | 1u << KUW_R15)

/* Ruby and D set these to 0 for a fiber's first function: all callee-saved ones except rbp. */
#define KUW_FIBER_ZERO		(KUW_CALLEE_SAVED & ~(1u << KUW_RBP))

/* Mappings, and their offsets in files, are multiples of this. */
#define KUW_PAGE		4096ULL
/*
 * What is below is taken for a number, argc for one, and for a return address only if it is known
 * that code is there. argc is 699,050 at most: an argument takes nine bytes of 6 MiB.
 */
#define KUW_LEAST_ADDRESS	0x100000ULL

/* Bytes below rsp that signals leave alone (psABI x86-64 3.2.2). */
#define KUW_RED_ZONE		128

/* Most functions start at multiples of this: not those of gcc -Os, or of assembly. */
#define KUW_FDE_ALIGN		16
/*
 * Fewer bytes before such a function are taken for padding. musl's restorer of signals, which
 * need not be aligned, has so many with its nop.
 */
#define KUW_LEAST_CODE		10

/*
 * The restorers of signal handlers that have no CFI: the bytes of
 * mov $__NR_rt_sigreturn,%rax; syscall (musl), and of the shorter mov to %eax (Zig).
 */
#define KUW_SIGRETURN_LO	0x0f0000000fc0c748ULL
#define KUW_SIGRETURN_HI	0x05
#define KUW_SHORT_SIGRETURN	0x050f0000000fb8ULL
/* Bytes of the two movs, and what they put into rax. */
#define KUW_SIGRETURN_MOV	7
#define KUW_SHORT_MOV		5
#define KUW_NR_SIGRETURN	15

/*
 * The code in which a thread of musl starts, which has no FDE: xor %ebp,%ebp; pop %rdi;
 * call *%r9, and after that mov %eax,%edi; xor %eax,%eax; mov $__NR_exit,%al; syscall.
 */
#define KUW_THREAD_CALL		0xd1ff415fed31ULL
#define KUW_THREAD_CALL_LEN	6
#define KUW_THREAD_EXIT		0x050f3cb0c031c789ULL

/*
 * The code in which a fiber of Boost.Context's make_fcontext() starts, also in PHP, which has
 * no FDE: push %rbp; jmp *%rbx. rbp is where its function would return to: perhaps endbr64,
 * then xor %rdi,%rdi; call _exit; hlt.
 */
#define KUW_FIBER_JUMP		0xe3ff55
#define KUW_FIBER_JUMP_LEN	3
#define KUW_FIBER_EXIT		0xe8ff3148
#define KUW_FIBER_HLT_AT	8
#define KUW_ENDBR64		0xfa1e0ff3
#define KUW_HLT			0xf4

/* The syscall instruction's two bytes, as a word. */
#define KUW_SYSCALL_INSN	0x050f
#define KUW_SYSCALL_LEN		2

/* Return: whether the 8 bytes may end with a call of this first byte, a direct one or not. */
static inline bool kuw_may_be_call(u64 before, u32 direct, u32 indirect)
{
	u32 n;

	if ((before >> 24 & 0xff) == direct)
		return true;
	for (n = 2; n <= 7; n++)
		if ((before >> (64 - 8 * n) & 0x38ff) == (0x1000 | indirect))
			return true;
	return false;
}

/*
 * Return: false if the 8 bytes before an address certainly do not end with a call; true
 * if they may: e8 and a 32-bit displacement, or ff /2 with any operand. The first byte of a
 * call with a uprobe or a breakpoint is cc. What ends with cc is padding between functions.
 */
static inline bool kuw_may_end_with_call(u64 before)
{
	return kuw_may_be_call(before, 0xe8, 0xff) ||
	       (before >> 56 != 0xcc && kuw_may_be_call(before, 0xcc, 0xcc));
}

#define KUW_PC_THUNK_LEN	4

/* Return: whether it is a function of i386 that returns its return address: mov (%esp),REG; ret. */
static inline bool kuw_is_pc_thunk(u64 code)
{
	return (code & 0xffffc7ff) == 0xc324048b;
}

/* Return: whether they end with a direct call, and certainly not with an indirect one. */
static inline bool kuw_is_direct_call(u64 before)
{
	/* No byte is 0x100. */
	return (before >> 24 & 0xff) == 0xe8 && !kuw_may_be_call(before, 0x100, 0xff);
}

/*
 * Bytes of the uretprobe trampoline, the first slot of its page (UPROBE_XOL_SLOT_BYTES). In the
 * others, the kernel has instructions with a uprobe executed: there the registers are those of
 * the probed function.
 */
#define KUW_TRAMPOLINE_BYTES	128
/*
 * Words that the kernel's uretprobe trampoline may have pushed when it is
 * interrupted: rax, rcx and r11, around its system call (Linux 6.11).
 */
#define KUW_TRAMPOLINE_WORDS	3

/* In the restorer, rsp points at a struct ucontext. Bytes from there to its registers. */
#define KUW_SIGFRAME_OFF { \
	[0] = 144, [1] = 136, [2] = 152, [3] = 128, [4] = 112, [5] = 104, \
	[6] = 120, [7] = 160, [8] = 40, [9] = 48, [10] = 56, [11] = 64, \
	[12] = 72, [13] = 80, [14] = 88, [15] = 96, [16] = 168, \
}

#endif /* KUW_ARCH_X86_64_H */

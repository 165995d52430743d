/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * i386, as a program of it runs on an x86-64 kernel (psABI i386). Its registers
 * take the places of those of x86-64, so that there is one set of rules: esi
 * and edi, which calls preserve here, are r12 and r13, which it does not have.
 */
#ifndef KUW_ARCH_I386_H
#define KUW_ARCH_I386_H

#include "arch/x86_64.h"

/* ELF's e_machine. */
#define KUW_I386_ELF_MACHINE	3

#define KUW_I386_WORD		4

#define KUW_I386_ESI		KUW_R12
#define KUW_I386_EDI		KUW_R13

/* Return: the place of a DWARF register (psABI i386, figure 2.14); any other
 * register's is beyond KUW_NR_REGS.
 */
static inline u64 kuw_i386_reg(u64 reg)
{
	static const u8 places[] = {
		0, 2, 1, KUW_RBX, KUW_RSP, KUW_RBP, KUW_I386_ESI, KUW_I386_EDI,
		KUW_RA,
	};

	return reg < sizeof(places) ? places[reg] : ~0ULL;
}

/* int $0x80, as a word. */
#define KUW_I386_SYSCALL_INSN	0x80cd

/*
 * The restorers of signal handlers that have no CFI (musl): pop %eax; mov
 * $__NR_sigreturn,%eax; int $0x80, and mov $__NR_rt_sigreturn,%eax; int $0x80.
 */
#define KUW_I386_SIGRETURN	0x80cd00000077b858ULL
#define KUW_I386_RT_SIGRETURN	0x80cd000000adb8ULL

/* Bytes from struct sigcontext_32 to its registers. */
#define KUW_I386_SIGCONTEXT_OFF { \
	[0] = 44, [1] = 36, [2] = 40, [KUW_RBX] = 32, [KUW_RBP] = 24, \
	[KUW_RSP] = 28, [KUW_I386_ESI] = 20, [KUW_I386_EDI] = 16, [KUW_RA] = 56, \
}

/* Bytes from what a handler's return leaves esp at: to the struct, or in the
 * newer frame to the pointer to struct ucontext_ia32; and from there to the struct.
 */
#define KUW_I386_SIGFRAME_SC	4
#define KUW_I386_RT_UCONTEXT	8
#define KUW_I386_RT_SC		20

#endif /* KUW_ARCH_I386_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * i386, as its programs run on an x86-64 kernel (psABI i386). Its registers take the
 * places of those of x86-64, so that there is one set of rules. Calls preserve esi and
 * edi on i386, so these take the places of r12 and r13, which i386 does not have.
 */
#ifndef KUW_ARCH_I386_H
#define KUW_ARCH_I386_H

#include "arch/x86_64.h"

/* ELF's e_machine. */
#define KUW_I386_ELF_MACHINE	3

#define KUW_I386_WORD		4

#define KUW_I386_ESI		KUW_R12
#define KUW_I386_EDI		KUW_R13

/* Addresses of programs with words of 32 bits wrap, and so do distances. */
static inline u64 kuw_narrow(u32 word, u64 value)
{
	return word == KUW_WORD ? value : (u32)value;
}

/*
 * Return: the place (KUW_RBX and so on) of a DWARF register (psABI i386, figure 2.14); a number
 * beyond KUW_NR_REGS for all that no walk needs.
 */
static inline u64 kuw_place_of(u32 word, u64 reg)
{
	static const u8 places[] = {
		0, 2, 1, KUW_RBX, KUW_RSP, KUW_RBP, KUW_I386_ESI, KUW_I386_EDI,
		KUW_RA,
	};

	if (word == KUW_WORD)
		return reg;
	return reg < sizeof(places) ? places[kuw_port_index(reg, sizeof(places))] : ~0ULL;
}

/* As KUW_FIBER_ZERO. */
#define KUW_I386_FIBER_ZERO	(1u << KUW_RBX | 1u << KUW_I386_ESI | 1u << KUW_I386_EDI)

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

/* Bytes from where esp points after a handler's return. In the old frame: to struct
 * sigcontext_32. In the newer one: to the pointer to struct ucontext_ia32, and from the
 * start of that struct to its struct sigcontext_32.
 */
#define KUW_I386_SIGFRAME_SC	4
#define KUW_I386_RT_UCONTEXT	8
#define KUW_I386_RT_SC		20

#endif /* KUW_ARCH_I386_H */

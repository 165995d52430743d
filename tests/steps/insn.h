/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The few instructions of x86-64 and i386 that a shadow stack must know (Intel SDM, volume 2,
 * chapter 2). All others move rsp or not, which shows in rsp.
 */
#ifndef STEPS_INSN_H
#define STEPS_INSN_H

#include "kunwind_port.h"

#define INSN_MAX_BYTES	15

enum insn_kind {
	INSN_OTHER,
	INSN_CALL,	/* call rel32; call *r/m */
	INSN_RET,	/* ret; ret imm16 */
	INSN_SYSCALL,	/* i386: int $0x80, or sysenter */
	INSN_POP,	/* pop of a register, or into memory */
};

/**
 * struct insn - an instruction
 * @kind: enum insn_kind
 * @len: of a call, its bytes; else 0
 */
struct insn {
	u8 kind;
	u8 len;
};

/* @len: how many of the bytes there are. @word: of the program, 8, or 4 if it is for i386. */
struct insn insn_decode(const u8 *bytes, u32 len, u32 word);

#endif /* STEPS_INSN_H */

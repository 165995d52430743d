/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * x86-64's instructions, as far as a stack pointer's way is concerned: how long each is, and
 * which operation has which operands (Intel SDM volume 2, chapter 2 and appendix A).
 */
#ifndef KUW_INSN_H
#define KUW_INSN_H

#include "cursor.h"

/* The longest instruction. */
#define KUW_INSN_BYTES		15

/* The operand is not a register, and is not addressed by one alone. */
#define KUW_INSN_NO_REG		0xff
/* It is at a constant distance from where fs leads. */
#define KUW_INSN_FS		0xfe

struct kuw_insn {
	/*
	 * The opcode; with 0x0f00 if it is from the two-byte map. 0 for those of other maps, which
	 * change no general register that a frame needs.
	 */
	u16 op;
	u8 reg;		/* the register operand, by DWARF number */
	u8 ext;		/* the ModRM byte's reg field, where it extends the opcode */
	u8 base;	/* the other operand's register: its own, or its address's */
	bool memory;	/* the other operand is in memory */
	bool wide;	/* the operands have 64 bits */
	bool narrow;	/* the operands have 16 bits */
	/* Private: REX's bits, or those of VEX and EVEX in the same places; other prefixes. */
	u8 rex;
	bool short_addr;	/* an address has 32 bits */
	u8 segment;		/* the prefix for fs or gs, if an address is in its segment */
	s32 disp;	/* what is added to @base */
	s64 imm;	/* the immediate operand, sign-extended; of a jump, the distance */
};

/* Decode the instruction at @c, and go behind it. Return: whether it is a known one. */
bool kuw_insn_decode(struct kuw_cur *c, struct kuw_insn *insn);

#endif /* KUW_INSN_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The lengths and operands of x86-64's instructions: see insn.h. */
#include "arch/insn.h"
#include "arch/x86_64.h"

/* What follows an opcode. 0: nothing. */
#define M	0x01	/* a ModRM byte, and what that says */
#define B	0x02	/* an immediate byte */
#define Z	0x04	/* an immediate of 4 bytes, or 2 with the prefix 66 */
#define W	0x08	/* an immediate of 2 bytes */
#define V	0x10	/* an immediate of the operands' size */
#define A	0x20	/* an address of 8 bytes */
#define J	0x40	/* a distance of 4 bytes, whatever the prefix */
#define X	0x80	/* no instruction, or none that programs have */

/* The eight operations of add, or, adc, sbb, and, sub, xor, cmp: SDM table A-2. */
#define ARITHMETIC(op) \
	[(op)] = M, [(op) + 1] = M, [(op) + 2] = M, [(op) + 3] = M, \
	[(op) + 4] = B, [(op) + 5] = Z, [(op) + 6] = X, [(op) + 7] = X

static const u8 one_byte[256] = {
	ARITHMETIC(0x00), ARITHMETIC(0x08), ARITHMETIC(0x10), ARITHMETIC(0x18),
	ARITHMETIC(0x20), ARITHMETIC(0x28), ARITHMETIC(0x30), ARITHMETIC(0x38),
	[0x40 ... 0x4f] = X, [0x60 ... 0x62] = X, [0x63] = M, [0x64 ... 0x67] = X,
	[0x68] = Z, [0x69] = M | Z, [0x6a] = B, [0x6b] = M | B,
	[0x6c ... 0x6f] = X, [0x70 ... 0x7f] = B,
	[0x80] = M | B, [0x81] = M | Z, [0x82] = X, [0x83] = M | B,
	[0x84 ... 0x8f] = M, [0x9a] = X,
	[0xa0 ... 0xa3] = A, [0xa8] = B, [0xa9] = Z,
	[0xb0 ... 0xb7] = B, [0xb8 ... 0xbf] = V,
	[0xc0 ... 0xc1] = M | B, [0xc2] = W, [0xc4 ... 0xc5] = X,
	[0xc6] = M | B, [0xc7] = M | Z, [0xc8] = X, [0xca ... 0xcf] = X,
	[0xd0 ... 0xd3] = M, [0xd4 ... 0xd6] = X, [0xd8 ... 0xdf] = M,
	[0xe0 ... 0xe3] = B, [0xe4 ... 0xe7] = X, [0xe8 ... 0xe9] = J,
	[0xea] = X, [0xeb] = B, [0xec ... 0xf4] = X,
	[0xf6 ... 0xf7] = M, [0xfa ... 0xfb] = X, [0xfe ... 0xff] = M,
};

static const u8 two_bytes[256] = {
	[0x00 ... 0x03] = M, [0x04] = X, [0x06 ... 0x0c] = X, [0x0d] = M, [0x0f] = X,
	[0x10 ... 0x1f] = M, [0x20 ... 0x27] = X, [0x28 ... 0x2f] = M,
	[0x30] = X, [0x32 ... 0x37] = X, [0x38 ... 0x3f] = X, [0x40 ... 0x6f] = M,
	[0x70 ... 0x73] = M | B, [0x74 ... 0x76] = M, [0x78 ... 0x7b] = X, [0x7c ... 0x7f] = M,
	[0x80 ... 0x8f] = J, [0x90 ... 0x9f] = M,
	[0xa0 ... 0xa1] = X, [0xa3] = M, [0xa4] = M | B, [0xa5] = M, [0xa6 ... 0xaa] = X,
	[0xab] = M, [0xac] = M | B, [0xad ... 0xb8] = M, [0xb9] = X,
	[0xba] = M | B, [0xbb ... 0xc1] = M, [0xc2] = M | B, [0xc3] = M,
	[0xc4 ... 0xc6] = M | B, [0xc7] = M, [0xd0 ... 0xfe] = M, [0xff] = X,
};

#define REX_B	1
#define REX_X	2
#define REX_R	4
#define REX_W	8

static u8 dwarf_reg(u32 number)
{
	static const u8 low[8] = { 0, 2, 1, KUW_RBX, KUW_RSP, KUW_RBP, KUW_RSI, KUW_RDI };

	return number < 8 ? low[number] : number;
}

/* Read the ModRM byte, and what it says follows: an SIB byte, a displacement. */
static void read_modrm(struct kuw_cur *c, struct kuw_insn *insn)
{
	u8 modrm = kuw_u8(c), mod = modrm >> 6, rm = modrm & 7, sib;

	insn->ext = modrm >> 3 & 7;
	insn->reg = dwarf_reg(insn->ext | (insn->rex & REX_R ? 8 : 0));
	insn->memory = mod != 3;
	insn->base = dwarf_reg(rm | (insn->rex & REX_B ? 8 : 0));
	if (insn->memory && rm == 4) {
		sib = kuw_u8(c);
		rm = sib & 7;
		insn->base = dwarf_reg(rm | (insn->rex & REX_B ? 8 : 0));
		/* With an index, or without a base, no register alone is the address. */
		if ((sib >> 3 & 7) != 4 || insn->rex & REX_X)
			insn->base = KUW_INSN_NO_REG;
		else if (!mod && rm == 5)
			insn->base = insn->segment == 0x64 ? KUW_INSN_FS : KUW_INSN_NO_REG;
	} else if (!mod && rm == 5) {
		/* From rip. */
		insn->base = KUW_RA;
	}
	if (!mod && rm == 5)
		mod = 2;
	/* No register leads there. */
	if (insn->memory && (insn->short_addr || (insn->segment && insn->base != KUW_INSN_FS)))
		insn->base = KUW_INSN_NO_REG;
	if (mod == 1)
		insn->disp = (s8)kuw_u8(c);
	else if (mod == 2)
		insn->disp = kuw_u32(c);
}

/* Vector instructions; @map is 1, 2 or 3, for 0f, 0f38 and 0f3a. */
static bool read_vector(struct kuw_cur *c, u32 map, struct kuw_insn *insn)
{
	u8 op = kuw_u8(c);

	/* vzeroupper has nothing behind it. */
	if (map != 1 || op != 0x77)
		read_modrm(c, insn);
	if (map == 3 || (map == 1 && two_bytes[op] & B))
		kuw_u8(c);
	insn->op = 0;
	/* Map 4 has general instructions of APX. Some push, pop, or have an immediate. */
	return map >= 1 && map <= 6 && map != 4 && kuw_good(c);
}

static bool read_immediate(struct kuw_cur *c, u8 shape, struct kuw_insn *insn)
{
	if (shape & B)
		insn->imm = (s8)kuw_u8(c);
	else if (shape & W || (shape & (Z | V) && insn->narrow))
		insn->imm = (s16)kuw_u16(c);
	else if (shape & V && insn->wide)
		insn->imm = kuw_u64(c);
	else if (shape & (Z | V | J))
		insn->imm = (s32)kuw_u32(c);
	else if (shape & A)
		kuw_have(c, insn->short_addr ? 4 : 8);
	return kuw_good(c);
}

static bool read_two_bytes(struct kuw_cur *c, struct kuw_insn *insn)
{
	u8 op = kuw_u8(c), shape;

	if (op == 0x38 || op == 0x3a)
		return read_vector(c, op == 0x38 ? 2 : 3, insn);
	shape = two_bytes[op];
	if (shape & X)
		return false;
	if (shape & M)
		read_modrm(c, insn);
	insn->op = 0x0f00 | op;
	return read_immediate(c, shape, insn);
}

static bool read_one_byte(struct kuw_cur *c, u8 op, struct kuw_insn *insn)
{
	u8 shape = one_byte[op];

	if (shape & X)
		return false;
	insn->op = op;
	if (shape & M)
		read_modrm(c, insn);
	else
		insn->reg = dwarf_reg((op & 7) | (insn->rex & REX_B ? 8 : 0));
	/* XOP, of AMD's Bulldozer, shares its first byte with pop. */
	if (op == 0x8f && insn->ext)
		return false;
	/* test, of f6 and f7, has an immediate; not, neg, mul and div have none. */
	if ((op == 0xf6 || op == 0xf7) && insn->ext < 2)
		shape |= op == 0xf6 ? B : Z;
	return read_immediate(c, shape, insn);
}

/* The bits of a VEX or EVEX byte that REX has, too, in the same order. There they are inverted. */
static u8 inverted_rex(u8 byte)
{
	return ~byte >> 5 & (REX_R | REX_X | REX_B);
}

bool kuw_insn_decode(struct kuw_cur *c, struct kuw_insn *insn)
{
	u8 byte;

	*insn = (struct kuw_insn){ .base = KUW_INSN_NO_REG };
	for (;;) {
		byte = kuw_u8(c);
		if (byte == 0x66)
			insn->narrow = true;
		else if (byte == 0x67)
			insn->short_addr = true;
		else if (byte == 0x64 || byte == 0x65)
			insn->segment = byte;
		else if (byte != 0x26 && byte != 0x2e && byte != 0x36 && byte != 0x3e &&
			 byte != 0xf0 && byte != 0xf2 && byte != 0xf3)
			break;
	}
	switch (byte) {
	case 0xc5:
		insn->rex = inverted_rex(kuw_u8(c)) & REX_R;
		return read_vector(c, 1, insn);
	case 0xc4:
		byte = kuw_u8(c);
		insn->rex = inverted_rex(byte);
		kuw_u8(c);
		return read_vector(c, byte & 0x1f, insn);
	case 0x62:
		byte = kuw_u8(c);
		insn->rex = inverted_rex(byte);
		kuw_have(c, 2);
		return read_vector(c, byte & 7, insn);
	}
	/* REX is one only right before the opcode. */
	if ((byte & 0xf0) == 0x40) {
		insn->rex = byte;
		byte = kuw_u8(c);
	}
	insn->wide = insn->rex & REX_W;
	insn->narrow &= !insn->wide;
	return byte == 0x0f ? read_two_bytes(c, insn) : read_one_byte(c, byte, insn);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "insn.h"

/* A notrack, bnd, repz or data16 prefix changes nothing here. */
static bool is_prefix(u8 byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:
	case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	}
	return false;
}

/* Bytes of the ModRM byte at @at and of what it says follows. */
static u32 modrm_len(const u8 *at, u32 left)
{
	u8 mod = at[0] >> 6, rm = at[0] & 7;
	u32 n = 1;

	if (mod == 3)
		return n;
	if (rm == 4) {
		n++;
		if (left > 1 && !mod && (at[1] & 7) == 5)
			n += 4;
	} else if (!mod && rm == 5) {
		n += 4;
	}
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

struct insn insn_decode(const u8 *bytes, u32 len, u32 word)
{
	struct insn insn = { INSN_OTHER, 0 };
	u32 i = 0;

	while (i < len && is_prefix(bytes[i]))
		i++;
	/* REX is one only right before the opcode. i386 has inc and dec there. */
	if (word == 8 && i < len && (bytes[i] & 0xf0) == 0x40)
		i++;
	if (i >= len)
		return insn;
	switch (bytes[i]) {
	case 0x58 ... 0x5f:
		insn.kind = INSN_POP;
		break;
	case 0x8f:
		if (i + 1 < len && !(bytes[i + 1] >> 3 & 7))
			insn.kind = INSN_POP;
		break;
	case 0xc2:
	case 0xc3:
		insn.kind = INSN_RET;
		break;
	case 0xe8:
		insn.kind = INSN_CALL;
		insn.len = i + 5;
		break;
	case 0x0f:
		if (i + 1 < len && (bytes[i + 1] == 0x05 || (word == 4 && bytes[i + 1] == 0x34)))
			insn.kind = INSN_SYSCALL;
		break;
	case 0xcd:
		if (word == 4 && i + 1 < len && bytes[i + 1] == 0x80)
			insn.kind = INSN_SYSCALL;
		break;
	case 0xff:
		if (i + 1 >= len || (bytes[i + 1] >> 3 & 7) != 2)
			break;
		insn.kind = INSN_CALL;
		insn.len = i + 1 + modrm_len(bytes + i + 1, len - i - 1);
		break;
	}
	return insn;
}

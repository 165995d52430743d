// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* LEB128 of more than one byte (DWARF 5 7.6). */
#include "cursor.h"

u64 kuw_uleb_long(struct kuw_cur *c)
{
	u64 value = 0;
	u32 shift = 0;
	u8 byte;

	do {
		byte = kuw_u8(c);
		/* Padding with zeros is legal, lost bits are not. */
		if (shift > 63 ? byte & 0x7f : shift == 63 && byte & 0x7e)
			kuw_fail(c);
		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return c->bad ? 0 : value;
}

s64 kuw_sleb_long(struct kuw_cur *c)
{
	u64 value = 0;
	u32 shift = 0;
	u8 byte, sign;

	do {
		byte = kuw_u8(c);
		if (shift < 63) {
			value |= (u64)(byte & 0x7f) << shift;
		} else {
			/* Only copies of the sign may follow. */
			if (shift == 63)
				value |= (u64)(byte & 1) << 63;
			sign = value >> 63 ? 0x7f : 0;
			if ((byte & 0x7f) != sign)
				kuw_fail(c);
		}
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~0ULL << shift;
	return c->bad ? 0 : (s64)value;
}

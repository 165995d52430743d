// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* LEB128 of more than one byte (DWARF 5 7.6). */
#include "cursor.h"

u64 kuw_uleb_long(struct kuw_cur *c)
{
	u64 value = 0;
	u32 shift;
	u8 byte;

	for (shift = 0; shift < 64; shift += 7) {
		byte = kuw_u8(c);
		value |= (u64)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		/* Padding with zeros is legal, lost bits are not. */
		if (shift == 63 && byte > 1)
			kuw_fail(c);
		return c->bad ? 0 : value;
	}
	kuw_fail(c);
	return 0;
}

s64 kuw_sleb_long(struct kuw_cur *c)
{
	u64 value = 0;
	u32 shift;
	u8 byte;

	for (shift = 0; shift < 64; shift += 7) {
		byte = kuw_u8(c);
		value |= (u64)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift < 63 && byte & 0x40)
			value |= ~0ULL << (shift + 7);
		/* The other bits of the last byte are copies of the sign. */
		if (shift == 63 && byte && byte != 0x7f)
			kuw_fail(c);
		return c->bad ? 0 : (s64)value;
	}
	kuw_fail(c);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* LEB128 of more than one byte (DWARF 5 7.6). */
#include "cursor.h"

u64 kuw_leb_long(struct kuw_cur *c, bool is_signed)
{
	u64 value = 0;
	u32 shift;
	u8 byte;

	for (shift = 0; shift < 64; shift += 7) {
		byte = kuw_u8(c);
		value |= (u64)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && shift < 63 && byte & 0x40)
			value |= ~0ULL << (shift + 7);
		/* Padding is legal, with zeros or copies of the sign. Lost bits are not. */
		if (shift == 63 && byte && byte != (is_signed ? 0x7f : 1))
			kuw_fail(c);
		return c->bad ? 0 : value;
	}
	kuw_fail(c);
	return 0;
}

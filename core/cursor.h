/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The only way in which core/ reads foreign bytes: a cursor that never leaves
 * its range. A read that would leave it yields 0 and marks the cursor bad for
 * good, so a record is parsed straight through and checked once at its end.
 */
#ifndef KUW_CURSOR_H
#define KUW_CURSOR_H

#include "kunwind_port.h"

struct kuw_cur {
	const u8 *p;
	const u8 *end;
	bool bad;
};

static inline struct kuw_cur kuw_cur(const u8 *bytes, u32 len)
{
	return (struct kuw_cur){ .p = bytes, .end = bytes + len };
}

static inline u64 kuw_left(const struct kuw_cur *c)
{
	return c->end - c->p;
}

static inline void kuw_fail(struct kuw_cur *c)
{
	c->bad = true;
	c->p = c->end;
}

/* Return: the first of @n bytes, or NULL if there are not as many. */
static inline const u8 *kuw_bytes(struct kuw_cur *c, u64 n)
{
	const u8 *p = c->p;

	if (unlikely(n > kuw_left(c))) {
		kuw_fail(c);
		return NULL;
	}
	c->p += n;
	return p;
}

static inline u8 kuw_u8(struct kuw_cur *c)
{
	if (unlikely(c->p == c->end)) {
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

static inline u16 kuw_u16(struct kuw_cur *c)
{
	const u8 *p = kuw_bytes(c, 2);

	return p ? get_unaligned_le16(p) : 0;
}

static inline u32 kuw_u32(struct kuw_cur *c)
{
	const u8 *p = kuw_bytes(c, 4);

	return p ? get_unaligned_le32(p) : 0;
}

static inline u64 kuw_u64(struct kuw_cur *c)
{
	const u8 *p = kuw_bytes(c, 8);

	return p ? get_unaligned_le64(p) : 0;
}

/* LEB128 (DWARF 5 7.6). What does not fit into 64 bits is an error. */
u64 kuw_uleb_long(struct kuw_cur *c);
s64 kuw_sleb_long(struct kuw_cur *c);

static inline u64 kuw_uleb(struct kuw_cur *c)
{
	if (likely(c->p != c->end && *c->p < 0x80))
		return *c->p++;
	return kuw_uleb_long(c);
}

static inline s64 kuw_sleb(struct kuw_cur *c)
{
	if (likely(c->p != c->end && *c->p < 0x80))
		return (s64)((u64)*c->p++ << 57) >> 57;
	return kuw_sleb_long(c);
}

#endif /* KUW_CURSOR_H */

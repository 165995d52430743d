/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * core/ reads untrusted bytes only through a cursor, which never leaves its range. A read
 * that would leave the range yields 0 and marks the cursor bad for good. So a record is
 * parsed straight through, and checked once at its end. No other file names the members of
 * a cursor (tests/layers.sh).
 *
 * Where the bytes say how far a cursor goes, a mispredicted branch does not let it go further than
 * its range: kuw_port_index().
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

/* Return: how far the cursor is from @bytes, which its range starts with or follows. */
static inline u64 kuw_pos(const struct kuw_cur *c, const u8 *bytes)
{
	return c->p - bytes;
}

static inline void kuw_fail(struct kuw_cur *c)
{
	c->bad = true;
	c->p = c->end;
}

/* Return: whether no read has failed. */
static inline bool kuw_good(const struct kuw_cur *c)
{
	return !c->bad;
}

/* Let the range end after @len more bytes. Return: whether there are as many. */
static inline bool kuw_cut(struct kuw_cur *c, u64 len)
{
	if (len > kuw_left(c)) {
		kuw_fail(c);
		return false;
	}
	c->end = c->p + kuw_port_index(len, kuw_left(c) + 1);
	return true;
}

/* Go by @by bytes, on or back, but not before @first. Return: whether that is in the range. */
static inline bool kuw_go(struct kuw_cur *c, const u8 *first, s64 by)
{
	if (by < first - c->p || by > c->end - c->p)
		return false;
	c->p = first + kuw_port_index(c->p - first + by, c->end - first + 1);
	return true;
}

/* Go past @n bytes, a constant. Return: whether there are as many. */
static inline bool kuw_have(struct kuw_cur *c, u64 n)
{
	if (n > kuw_left(c)) {
		kuw_fail(c);
		return false;
	}
	c->p += n;
	return true;
}

/* Go past @n bytes. Return: the first of them, or NULL if there are not as many. */
static inline const u8 *kuw_bytes(struct kuw_cur *c, u64 n)
{
	const u8 *first = c->p;

	if (n > kuw_left(c)) {
		kuw_fail(c);
		return NULL;
	}
	c->p += kuw_port_index(n, kuw_left(c) + 1);
	return first;
}

/* Return: a cursor of the bytes from @pos on, of @len; a bad one if there are not as many. */
static inline struct kuw_cur kuw_cur_from(const u8 *bytes, u32 len, u64 pos)
{
	struct kuw_cur c = kuw_cur(bytes, len);

	kuw_bytes(&c, pos);
	return c;
}

static inline u8 kuw_u8(struct kuw_cur *c)
{
	return kuw_have(c, 1) ? c->p[-1] : 0;
}

static inline u16 kuw_u16(struct kuw_cur *c)
{
	return kuw_have(c, 2) ? get_unaligned_le16(c->p - 2) : 0;
}

static inline u32 kuw_u32(struct kuw_cur *c)
{
	return kuw_have(c, 4) ? get_unaligned_le32(c->p - 4) : 0;
}

static inline u64 kuw_u64(struct kuw_cur *c)
{
	return kuw_have(c, 8) ? get_unaligned_le64(c->p - 8) : 0;
}

/*
 * LEB128 (DWARF 5 7.6). A value that does not fit into 64 bits is an error. So is padding beyond
 * the ten bytes that 64 bits need: DWARF sets no limit, but what is read must cost no more than it
 * counts.
 */
u64 kuw_leb_long(struct kuw_cur *c, bool is_signed);

static inline u64 kuw_uleb(struct kuw_cur *c)
{
	return c->p != c->end && *c->p < 0x80 ? *c->p++ : kuw_leb_long(c, false);
}

static inline s64 kuw_sleb(struct kuw_cur *c)
{
	if (c->p != c->end && *c->p < 0x80)
		return (s64)((u64)*c->p++ << 57) >> 57;
	return kuw_leb_long(c, true);
}

#endif /* KUW_CURSOR_H */

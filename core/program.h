/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A cache of programs that were run lately. Compilers lay out functions alike: in a large
 * C++ file, half of the FDEs have the program and the CIE of an earlier one, and so the
 * same rows.
 *
 * The cache is direct-mapped, by a hash of all bytes of a program. They are compared in full.
 */
#ifndef KUW_PROGRAM_H
#define KUW_PROGRAM_H

#include "compile.h"

/**
 * struct kuw_program - a program that was run and made all its rows
 * @cie: where its CIE is, in .eh_frame
 * @pos: where the program is, in .eh_frame
 * @len: its bytes
 * @first: where its rows start, in KUW_AREA_FOUND
 * @nr_rows: how many rows
 */
struct kuw_program {
	u32 cie;
	u32 pos;
	u32 len;
	u32 first;
	u32 nr_rows;
};

/* The longest program to cache; longer ones seldom come twice. */
#define KUW_PROGRAM_BYTES	64

/*
 * The last bytes of a program, at most eight. For a shorter program, the load starts in the
 * head of its FDE.
 */
static inline u64 kuw_program_tail(const u8 *end, u32 len)
{
	return get_unaligned_le64(end - sizeof(u64)) >>
	       (len < sizeof(u64) ? 64 - 8 * len : 0);
}

/* No multiplication for each word: the next word would have to wait for it. */
static inline u64 kuw_program_hash(const u8 *bytes, u32 len, u32 cie)
{
	u64 h = kuw_program_tail(bytes + len, len) + ((u64)cie << 32);

	for (; len > 2 * sizeof(u64); len -= 2 * sizeof(u64), bytes += 2 * sizeof(u64)) {
		h = (h << 5 | h >> 59) + get_unaligned_le64(bytes);
		h = (h << 5 | h >> 59) + get_unaligned_le64(bytes + sizeof(u64));
	}
	if (len > sizeof(u64))
		h = (h << 5 | h >> 59) + get_unaligned_le64(bytes);
	return h * KUW_MIX;
}

static inline bool kuw_program_same(const u8 *a, const u8 *b, u32 len)
{
	if (kuw_program_tail(a + len, len) != kuw_program_tail(b + len, len))
		return false;
	for (; len > sizeof(u64); len -= sizeof(u64), a += sizeof(u64), b += sizeof(u64))
		if (get_unaligned_le64(a) != get_unaligned_le64(b))
			return false;
	return true;
}

/*
 * Return: the slot for the program of an FDE with this CIE, or NULL if the program is too
 * long; *@there says whether the slot has the program. Inline, as it runs for each FDE, and
 * a call would cost as much as the hash.
 */
static __always_inline struct kuw_program *
kuw_program_find(struct kuw_compile *c, u32 cie, const struct kuw_cur *instrs, bool *there)
{
	u32 len = kuw_left(instrs);
	struct kuw_program *program;

	*there = false;
	if (len - 1 >= KUW_PROGRAM_BYTES)
		return NULL;
	program = (struct kuw_program *)c->areas[KUW_AREA_PROGRAMS].mem +
		  (kuw_program_hash(instrs->p, len, cie) >> c->program_shift);
	if (program->cie != cie || program->len != len ||
	    !kuw_program_same(c->eh_frame.bytes + program->pos, instrs->p, len))
		return program;
	/* Compare with the latest copy next time: it is in the processor's cache. */
	program->pos = instrs->p - c->eh_frame.bytes;
	*there = true;
	return program;
}

#endif /* KUW_PROGRAM_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Programs that were run lately. Compilers lay out functions alike: of a large file of
 * C++, half of the FDEs have the program and the CIE of one that came before, and
 * with them its rows.
 *
 * The cache is direct-mapped, by a hash of all bytes, which are compared in full.
 */
#ifndef KUW_PROGRAM_H
#define KUW_PROGRAM_H

#include "compile.h"

/**
 * struct kuw_program - a program that was run and made all its rows
 * @cie: where its CIE is
 * @pos: where it is
 * @len: its bytes
 * @first: where its rows begin among those found
 * @nr_rows: how many
 */
struct kuw_program {
	u32 cie;
	u32 pos;
	u32 len;
	u32 first;
	u32 nr_rows;
};

/* Longer ones are seldom seen twice. */
#define KUW_PROGRAM_BYTES	64

/*
 * The last bytes of a program, at most eight. If it has less, what is read begins in
 * the head of its FDE.
 */
static inline u64 kuw_program_tail(const u8 *end, u32 len)
{
	return get_unaligned_le64(end - sizeof(u64)) >>
	       (len < sizeof(u64) ? 64 - 8 * len : 0);
}

/* No product for each word, as the next one would wait for it. */
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
 * Return: the slot of the program of an FDE with this CIE, NULL if it is too long; and
 * whether it is @there. It is asked for each FDE: a call would cost as much as the hash.
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
	/* Those that were seen last are in the processor's cache. */
	program->pos = instrs->p - c->eh_frame.bytes;
	*there = true;
	return program;
}

#endif /* KUW_PROGRAM_H */

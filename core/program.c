// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Programs that were run lately. Compilers lay out functions alike: of a large file of
 * C++, half of the FDEs have the program and the CIE of one that came before, and
 * with them its rows.
 *
 * The cache is direct-mapped, by a hash of all bytes, which are compared in full.
 */
#include "compile.h"

/* Bytes of .eh_frame for each slot, so that small files need not empty many. */
#define BYTES_PER_SLOT	512
#define MIN_BITS	4

static struct kuw_program *programs_of(const struct kuw_compile *c)
{
	return c->areas[KUW_AREA_PROGRAMS].mem;
}

int kuw_programs_init(struct kuw_compile *c)
{
	u64 slots;

	c->program_bits = MIN_BITS;
	while (c->program_bits < KUW_PROGRAMS_BITS &&
	       (u64)BYTES_PER_SLOT << c->program_bits < c->eh_frame.len)
		c->program_bits++;
	slots = 1ULL << c->program_bits;
	if (!kuw_compile_room(c, KUW_AREA_PROGRAMS, slots * sizeof(struct kuw_program)))
		return -ENOSPC;
	/* No program is empty: a slot of zeros serves nobody. */
	memset(programs_of(c), 0, slots * sizeof(struct kuw_program));
	return 0;
}

/*
 * The last bytes of a program, at most eight. If it has less, what is read begins in
 * the head of its FDE.
 */
static u64 tail(const u8 *end, u32 len)
{
	return get_unaligned_le64(end - sizeof(u64)) >>
	       (len < sizeof(u64) ? 64 - 8 * len : 0);
}

/* A sum of products: none of them waits for another. */
static u64 hash(const u8 *bytes, u32 len, u32 cie)
{
	const u8 *end = bytes + len;
	u64 h = tail(end, len) * KUW_MIX + cie * KUW_MIX2, mix = KUW_MIX2;

	for (; len > sizeof(u64); len -= sizeof(u64), bytes += sizeof(u64)) {
		mix += 2 * KUW_MIX;
		h += get_unaligned_le64(bytes) * mix;
	}
	return h;
}

static bool same(const u8 *a, const u8 *b, u32 len)
{
	if (tail(a + len, len) != tail(b + len, len))
		return false;
	for (; len > sizeof(u64); len -= sizeof(u64), a += sizeof(u64), b += sizeof(u64))
		if (get_unaligned_le64(a) != get_unaligned_le64(b))
			return false;
	return true;
}

struct kuw_program *kuw_program_find(struct kuw_compile *c, u32 cie,
				     const struct kuw_cur *instrs, bool *there)
{
	u32 len = kuw_left(instrs);
	struct kuw_program *program;

	*there = false;
	if (len - 1 >= KUW_PROGRAM_BYTES)
		return NULL;
	program = programs_of(c) +
		  (hash(instrs->p, len, cie) >> (64 - c->program_bits));
	if (program->cie != cie || program->len != len ||
	    !same(c->eh_frame.bytes + program->pos, instrs->p, len))
		return program;
	/* Those that were seen last are in the processor's cache. */
	program->pos = instrs->p - c->eh_frame.bytes;
	*there = true;
	return program;
}

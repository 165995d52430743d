// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Programs that were run lately. Compilers lay out functions alike, so a third
 * to two thirds of the FDEs of a file of C++ say what another one has said: with
 * the same CIE and the same bytes, the rows are the same.
 *
 * Direct-mapped, found by a hash of all bytes and compared in full. The hash is a
 * sum of products that do not wait for each other.
 */
#include "compile.h"

/* How many of a file's first 2^20 bytes of .eh_frame one slot is for. */
#define BYTES_PER_SLOT	512

static struct kuw_program *programs_of(const struct kuw_compile *c)
{
	return c->areas[KUW_AREA_PROGRAMS].mem;
}

int kuw_programs_init(struct kuw_compile *c)
{
	u64 slots;

	c->program_bits = 4;
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
 * The last bytes of a program, at most eight. What is read lies in its FDE, whose
 * head has as many bytes before it.
 */
static u64 tail(const u8 *end, u32 len)
{
	return get_unaligned_le64(end - sizeof(u64)) >>
	       (len < sizeof(u64) ? 64 - 8 * len : 0);
}

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
				     const struct kuw_cur *instrs, bool *found)
{
	u32 len = kuw_left(instrs);
	struct kuw_program *program;

	*found = false;
	if (len - 1 >= KUW_PROGRAM_BYTES)
		return NULL;
	program = programs_of(c) +
		  (hash(instrs->p, len, cie) >> (64 - c->program_bits));
	if (program->cie != cie || program->len != len ||
	    !same(c->eh_frame.bytes + program->pos, instrs->p, len))
		return program;
	/* These bytes are in the processor's cache. */
	program->pos = instrs->p - c->eh_frame.bytes;
	*found = true;
	return program;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The size of the cache of programs. */
#include "program.h"

/* Bytes of .eh_frame for each slot, so that small files need not empty many. */
#define BYTES_PER_SLOT	512
#define MIN_BITS	4
#define MAX_BITS	12

int kuw_programs_init(struct kuw_compile *c)
{
	u32 bits = MIN_BITS;
	u64 slots;

	while (bits < MAX_BITS && (u64)BYTES_PER_SLOT << bits < c->eh_frame.len)
		bits++;
	slots = 1ULL << bits;
	c->program_shift = 64 - bits;
	if (!kuw_compile_room(c, KUW_AREA_PROGRAMS, slots * sizeof(struct kuw_program)))
		return -ENOSPC;
	/* No program is empty, so a slot of zeros never matches. */
	memset(c->areas[KUW_AREA_PROGRAMS].mem, 0, slots * sizeof(struct kuw_program));
	return 0;
}

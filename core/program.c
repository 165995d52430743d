// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The cache of programs: how large it is. */
#include "program.h"

/* Bytes of .eh_frame for each slot, so that small files need not empty many. */
#define BYTES_PER_SLOT	512
#define MIN_BITS	4
#define MAX_BITS	12

int kuw_programs_init(struct kuw_compile *c)
{
	u64 slots;

	c->program_bits = MIN_BITS;
	while (c->program_bits < MAX_BITS &&
	       (u64)BYTES_PER_SLOT << c->program_bits < c->eh_frame.len)
		c->program_bits++;
	slots = 1ULL << c->program_bits;
	if (!kuw_compile_room(c, KUW_AREA_PROGRAMS, slots * sizeof(struct kuw_program)))
		return -ENOSPC;
	/* No program is empty: a slot of zeros serves nobody. */
	memset(c->areas[KUW_AREA_PROGRAMS].mem, 0, slots * sizeof(struct kuw_program));
	return 0;
}

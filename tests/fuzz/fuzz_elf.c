// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The ELF reader: what it asks for, and what it believes. */
#include "fuzz.h"

static void check_range(const struct kuw_range *r, u64 size)
{
	must(r->off <= size && r->len <= size - r->off);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct host_source source = { .fd = -1, .bytes = data, .size = size };
	struct host_table t;

	if (!host_read_elf(&t, &source)) {
		must(t.elf.eh_frame.len || t.elf.gopclntab.len);
		must(t.elf.nr_segments && t.elf.nr_segments <= KUW_MAX_SEGMENTS);
		must(t.elf.build_id_len <= KUW_BUILD_ID_MAX);
		check_range(&t.elf.eh_frame, size);
		check_range(&t.elf.gopclntab, size);
	} else {
		/* Pieces inside the file can always be read. */
		must(!t.stage || strcmp(t.stage, "sections"));
	}
	host_table_free(&t);
	return 0;
}

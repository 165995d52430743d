// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* From a file's bytes to a walk. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct host_table t;
	u64 bias;
	u32 i;

	if (!host_load_bytes(&t, data, size)) {
		for (i = 0; i < t.elf.nr_segments; i++)
			kuw_table_bias(t.table, FUZZ_BIAS, 0x1000,
				       t.elf.segments[i].off & -0x1000ULL,
				       &bias);
		fuzz_table(&t);
	}
	host_table_free(&t);
	return 0;
}

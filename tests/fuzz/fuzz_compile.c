// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A whole .eh_frame: its table is asked for everything, and walked with. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct host_table t;
	u32 word = KUW_WORD;

	/* The first byte says whether the rest is for i386. */
	if (size) {
		word = *data & 0x80 ? 4 : KUW_WORD;
		data++;
		size--;
	}
	if (!fuzz_compile(&t, word, data, (u32)size))
		fuzz_table(&t);
	host_table_free(&t);
	return 0;
}

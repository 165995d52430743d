// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A whole .eh_frame: its table is asked for everything, and walked with. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct host_table t;
	u32 hdr_len = 0;

	/* The first byte says how much of the rest is .eh_frame_hdr. */
	if (size) {
		hdr_len = *data++;
		size--;
	}
	if (hdr_len > size)
		hdr_len = 0;
	if (!fuzz_compile(&t, data + hdr_len, (u32)size - hdr_len, data,
			  hdr_len))
		fuzz_table(&t);
	host_table_free(&t);
	return 0;
}

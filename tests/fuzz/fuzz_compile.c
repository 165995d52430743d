// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A whole .eh_frame: its table is asked for everything, and walked with. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct host_table t;
	u32 hdr_len = 0, word = KUW_WORD;

	/* The first byte says how much of the rest is .eh_frame_hdr, and whether
	 * it is for i386.
	 */
	if (size) {
		hdr_len = *data & 0x7f;
		word = *data & 0x80 ? 4 : KUW_WORD;
		data++;
		size--;
	}
	if (hdr_len > size)
		hdr_len = 0;
	if (!fuzz_compile(&t, word, data + hdr_len, (u32)size - hdr_len, data,
			  hdr_len))
		fuzz_table(&t);
	host_table_free(&t);
	return 0;
}

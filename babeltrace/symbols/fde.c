// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The search table of .eh_frame_hdr (LSB Core 5.0, 10.6.2): elfutils looks addresses
 * up in it, but does not tell where the FDE begins that it found.
 */
#include <dwarf.h>
#include <gelf.h>
#include <string.h>
#include "fde.h"

/* Of linkers' tables: an .eh_frame pointer of 4 bytes, then their count. */
#define COUNT_AT	8
#define ENTRIES_AT	12

struct entry {
	int32_t start;
	int32_t fde;
};

static bool is_usual(const Elf_Data *data)
{
	const uint8_t *bytes = data->d_buf;

	return bytes && data->d_size >= ENTRIES_AT && bytes[0] == 1 &&
	       (bytes[1] & 0x0f) == DW_EH_PE_sdata4 && bytes[2] == DW_EH_PE_udata4 &&
	       bytes[3] == (DW_EH_PE_datarel | DW_EH_PE_sdata4);
}

const Elf_Data *kr_fde_table(Elf *elf, uint64_t *base)
{
	const Elf_Data *data;
	GElf_Phdr phdr;
	size_t i, n;

	if (!elf || elf_getphdrnum(elf, &n))
		return NULL;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_GNU_EH_FRAME)
			continue;
		*base = phdr.p_vaddr;
		data = elf_getdata_rawchunk(elf, phdr.p_offset, phdr.p_filesz,
					    ELF_T_BYTE);
		return data && is_usual(data) ? data : NULL;
	}
	return NULL;
}

bool kr_fde_start(const Elf_Data *table, uint64_t base, uint64_t vaddr,
		  uint64_t *start)
{
	const char *bytes = table->d_buf;
	size_t below = 0, above = (table->d_size - ENTRIES_AT) / sizeof(struct entry);
	struct entry entry;
	uint32_t count;

	memcpy(&count, bytes + COUNT_AT, sizeof(count));
	if (above > count)
		above = count;
	while (below < above) {
		size_t middle = below + (above - below) / 2;

		memcpy(&entry, bytes + ENTRIES_AT + middle * sizeof(entry),
		       sizeof(entry));
		if (base + (int64_t)entry.start <= vaddr) {
			*start = base + (int64_t)entry.start;
			below = middle + 1;
		} else {
			above = middle;
		}
	}
	return below > 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The search table of .eh_frame_hdr (LSB Core 5.0, 10.6.2), and the FDE that it leads to
 * (10.6.1).
 *
 * elfutils has dwarf_cfi_addrframe(), which does not tell where the FDE begins. It also
 * reads all FDEs one after the other where the section .eh_frame stands before
 * .eh_frame_hdr, as in Debian's libLLVM: it has not come to the table then.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
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

static Elf_Data *bytes_of(Elf *elf, const GElf_Phdr *phdr)
{
	return elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, phdr->p_filesz, ELF_T_BYTE);
}

/* Return: whether a segment that is loaded has bytes of the file at an address. */
static bool find_segment(Elf *elf, uint64_t vaddr, GElf_Phdr *phdr)
{
	size_t i, n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, phdr) && phdr->p_type == PT_LOAD &&
		    vaddr - phdr->p_vaddr < phdr->p_filesz)
			return true;
	return false;
}

/* Return: the search table; NULL if there is none of the usual form. Sets what it is relative to. */
static const Elf_Data *find_table(Elf *elf, uint64_t *base)
{
	const Elf_Data *data;
	GElf_Phdr phdr;
	size_t i, n;

	if (elf_getphdrnum(elf, &n))
		return NULL;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_GNU_EH_FRAME)
			continue;
		*base = phdr.p_vaddr;
		data = bytes_of(elf, &phdr);
		return data && is_usual(data) ? data : NULL;
	}
	return NULL;
}

/* Return: whether a function begins at an address, or before. */
static bool find_entry(const Elf_Data *table, uint64_t base, uint64_t vaddr,
		       struct entry *found)
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
			*found = entry;
			below = middle + 1;
		} else {
			above = middle;
		}
	}
	return below > 0;
}

/* Return: the bytes that a pointer of that encoding takes; 0 if their number varies. */
static size_t size_of(uint8_t encoding, size_t word)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return encoding == DW_EH_PE_aligned ? 0 : word;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	}
	return 0;
}

/* Return: how a CIE's FDEs have their addresses; DW_EH_PE_omit if that is not understood. */
static uint8_t read_augmentation(const Dwarf_CIE *cie, size_t word, bool *signal)
{
	const char *letter = cie->augmentation;
	const uint8_t *bytes = cie->augmentation_data;
	const uint8_t *end = bytes ? bytes + cie->augmentation_data_size : NULL;
	uint8_t encoding = DW_EH_PE_absptr;
	size_t size;

	*signal = false;
	if (*letter == 'z')
		letter++;
	for (; *letter; letter++) {
		switch (*letter) {
		case 'S':
			*signal = true;
			continue;
		case 'R':
		case 'L':
		case 'P':
			break;
		default:
			return DW_EH_PE_omit;
		}
		if (bytes == end)
			return DW_EH_PE_omit;
		if (*letter == 'R')
			encoding = *bytes;
		size = *letter == 'P' ? size_of(*bytes, word) : 0;
		bytes++;
		if (*letter == 'P' && (!size || (size_t)(end - bytes) < size))
			return DW_EH_PE_omit;
		bytes += size;
	}
	return encoding;
}

/* Read the FDE at @at of @data, whose start the table has. Return: whether it is one. */
static bool read_fde(const unsigned char *ident, Elf_Data *data, uint64_t at,
		     struct kr_fde *found)
{
	size_t word = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8, size;
	Dwarf_CFI_Entry fde, cie;
	uint64_t length = 0;
	uint8_t encoding;
	Dwarf_Off next;

	if (dwarf_next_cfi(ident, data, true, (Dwarf_Off)at, &next, &fde) ||
	    dwarf_cfi_cie_p(&fde) ||
	    dwarf_next_cfi(ident, data, true, fde.fde.CIE_pointer, &next, &cie) ||
	    !dwarf_cfi_cie_p(&cie))
		return false;
	encoding = read_augmentation(&cie.cie, word, &found->signal);
	size = size_of(encoding, word);
	if (!size || (size_t)(fde.fde.end - fde.fde.start) < 2 * size)
		return false;
	/* The length has the format of the start, and no sign (little-endian). */
	memcpy(&length, fde.fde.start + size, size);
	found->end = found->start + length;
	return true;
}

int kr_fde_find(Elf *elf, uint64_t vaddr, struct kr_fde *fde)
{
	const Elf_Data *table;
	struct entry entry;
	GElf_Phdr phdr;
	Elf_Data *data;
	uint64_t base, at;

	table = elf ? find_table(elf, &base) : NULL;
	if (!table)
		return -1;
	if (!find_entry(table, base, vaddr, &entry))
		return 0;
	fde->start = base + (int64_t)entry.start;
	at = base + (int64_t)entry.fde;
	if (!find_segment(elf, at, &phdr))
		return 0;
	data = bytes_of(elf, &phdr);
	return data &&
	       read_fde((const unsigned char *)elf_getident(elf, NULL), data,
			at - phdr.p_vaddr, fde) &&
	       vaddr < fde->end;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A small ELF file, laid out as a linker with -z separate-code does. */
#include <elf.h>
#include <stdlib.h>
#include "build.h"

#define PAGE	0x1000u
#define NOTE_LEN	36

static const char strings[] =
	"\0.text\0.eh_frame\0.eh_frame_hdr\0.note.gnu.build-id\0.shstrtab";

static u32 name_of(const char *section)
{
	u32 i;

	for (i = 1; i < sizeof(strings); i += (u32)strlen(strings + i) + 1)
		if (!strcmp(strings + i, section))
			return i;
	abort();
}

static void put_section(struct buf *b, const char *name, u32 type, u32 flags,
			u64 vaddr, u32 off, u32 len)
{
	const Elf64_Shdr shdr = {
		.sh_name = name_of(name),
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = vaddr,
		.sh_offset = off,
		.sh_size = len,
		.sh_addralign = 8,
	};

	buf_put(b, &shdr, sizeof(shdr));
}

static void put_note(struct buf *b)
{
	u32 i;

	buf_uint(b, 4, 4);
	buf_uint(b, 20, 4);
	buf_uint(b, NT_GNU_BUILD_ID, 4);
	buf_put(b, "GNU", 4);
	for (i = 1; i <= 20; i++)
		buf_uint(b, i, 1);
}

/* DW_EH_PE: eh_frame_ptr pcrel sdata4, and no table or an empty one. */
static void put_hdr(struct buf *b, bool entries, u64 vaddr, u64 eh_frame)
{
	buf_uint(b, 1, 1);
	buf_uint(b, 0x1b, 1);
	buf_uint(b, entries ? 0x03 : 0xff, 1);
	buf_uint(b, entries ? 0x3b : 0xff, 1);
	buf_uint(b, eh_frame - (vaddr + 4), 4);
	if (!entries)
		return;
	buf_uint(b, 1, 4);
	buf_uint(b, BUILD_TEXT - vaddr, 4);
	buf_uint(b, eh_frame - vaddr, 4);
}

static void buf_nops(struct buf *b, u32 len)
{
	static const u8 nops[PAGE] = { [0 ... PAGE - 1] = 0x90 };

	for (; len; len -= PAGE)
		buf_put(b, nops, PAGE);
}

void build_elf(struct buf *b, const struct elf_spec *spec,
	       struct elf_layout *l)
{
	const u32 eh_len = spec->eh_frame->len;
	const u32 text_len = spec->text_len ? spec->text_len : PAGE;
	const u32 data = PAGE + text_len;
	const u64 delta = BUILD_EH - data;
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = BUILD_TEXT,
		.e_phoff = sizeof(ehdr),
		.e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	Elf64_Phdr phdrs[4] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = PAGE,
		  .p_vaddr = BUILD_TEXT, .p_filesz = text_len,
		  .p_memsz = text_len, .p_align = PAGE },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = data,
		  .p_vaddr = BUILD_EH, .p_align = PAGE },
	};
	u32 n = 2, hdr_len;

	memset(l, 0, sizeof(*l));
	l->phdrs = sizeof(ehdr);
	buf_put(b, &ehdr, sizeof(ehdr));
	buf_put(b, phdrs, sizeof(phdrs));
	buf_align(b, PAGE, 0);
	buf_nops(b, text_len);

	l->eh_frame = b->len;
	buf_put(b, spec->eh_frame->bytes, eh_len);
	buf_align(b, 8, 0);
	if (!spec->no_hdr) {
		l->eh_frame_hdr = b->len;
		put_hdr(b, spec->hdr_entries, b->len + delta, BUILD_EH);
		hdr_len = b->len - l->eh_frame_hdr;
		phdrs[n++] = (Elf64_Phdr){
			.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R,
			.p_offset = l->eh_frame_hdr,
			.p_vaddr = l->eh_frame_hdr + delta,
			.p_filesz = hdr_len, .p_memsz = hdr_len, .p_align = 4,
		};
		buf_align(b, 8, 0);
	}
	if (!spec->no_build_id) {
		l->note = b->len;
		put_note(b);
		phdrs[n++] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_flags = PF_R,
			.p_offset = l->note, .p_vaddr = l->note + delta,
			.p_filesz = NOTE_LEN, .p_memsz = NOTE_LEN,
			.p_align = 4,
		};
		buf_align(b, 8, 0);
	}
	phdrs[1].p_filesz = b->len - data;
	phdrs[1].p_memsz = phdrs[1].p_filesz;

	if (!spec->no_sections) {
		Elf64_Shdr null = { 0 };

		l->strings = b->len;
		buf_put(b, strings, sizeof(strings));
		buf_align(b, 8, 0);
		l->shdrs = b->len;
		l->nr_shdrs = 4;
		buf_put(b, &null, sizeof(null));
		put_section(b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
			    BUILD_TEXT, PAGE, text_len);
		put_section(b, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, BUILD_EH,
			    l->eh_frame, eh_len);
		put_section(b, ".shstrtab", SHT_STRTAB, 0, 0, l->strings,
			    sizeof(strings));
		ehdr.e_shoff = l->shdrs;
		ehdr.e_shnum = 4;
		ehdr.e_shstrndx = 3;
	}
	l->nr_phdrs = n;
	ehdr.e_phnum = (Elf64_Half)n;
	memcpy(b->bytes, &ehdr, sizeof(ehdr));
	memcpy(b->bytes + l->phdrs, phdrs, n * sizeof(phdrs[0]));
}

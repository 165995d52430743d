// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A small ELF file, laid out as a linker with -z separate-code does. */
#include <elf.h>
#include <stdlib.h>
#include "build_eh_frame.h"

#define PAGE	0x1000u
#define NOTE_LEN	36

static const char strings[] =
	"\0.text\0.eh_frame\0.eh_frame_hdr\0.note.gnu.build-id\0.shstrtab\0.data.rel.ro.gopclntab\0.gopclntab\0.go.module";

static u32 name_of(const char *section)
{
	u32 i;

	for (i = 1; i < sizeof(strings); i += (u32)strlen(strings + i) + 1)
		if (!strcmp(strings + i, section))
			return i;
	abort();
}

/* Headers are made as ELFCLASS64 has them; ELFCLASS32 has the same in fewer bytes. */
static u32 put_ehdr(u8 *to, u32 word, const Elf64_Ehdr *from)
{
	Elf32_Ehdr ehdr = {
		.e_type = from->e_type,
		.e_machine = from->e_machine,
		.e_version = from->e_version,
		.e_entry = (Elf32_Addr)from->e_entry,
		.e_phoff = (Elf32_Off)from->e_phoff,
		.e_shoff = (Elf32_Off)from->e_shoff,
		.e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = from->e_phnum,
		.e_shentsize = sizeof(Elf32_Shdr),
		.e_shnum = from->e_shnum,
		.e_shstrndx = from->e_shstrndx,
	};

	if (word == 8) {
		memcpy(to, from, sizeof(*from));
		return sizeof(*from);
	}
	memcpy(ehdr.e_ident, from->e_ident, sizeof(ehdr.e_ident));
	ehdr.e_ident[EI_CLASS] = ELFCLASS32;
	ehdr.e_machine = EM_386;
	memcpy(to, &ehdr, sizeof(ehdr));
	return sizeof(ehdr);
}

static u32 put_phdr(u8 *to, u32 word, const Elf64_Phdr *from)
{
	const Elf32_Phdr phdr = {
		.p_type = from->p_type,
		.p_offset = (Elf32_Off)from->p_offset,
		.p_vaddr = (Elf32_Addr)from->p_vaddr,
		.p_filesz = (Elf32_Word)from->p_filesz,
		.p_memsz = (Elf32_Word)from->p_memsz,
		.p_flags = from->p_flags,
		.p_align = (Elf32_Word)from->p_align,
	};

	if (word == 8) {
		memcpy(to, from, sizeof(*from));
		return sizeof(*from);
	}
	memcpy(to, &phdr, sizeof(phdr));
	return sizeof(phdr);
}

static void put_section(struct buf *b, u32 word, const char *name, u32 type, u32 flags,
			u64 vaddr, u32 off, u32 len)
{
	const Elf64_Shdr shdr = {
		.sh_name = *name ? name_of(name) : 0,
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = vaddr,
		.sh_offset = off,
		.sh_size = len,
		.sh_addralign = type == SHT_NULL ? 0 : 8,
	};
	const Elf32_Shdr shdr32 = {
		.sh_name = shdr.sh_name,
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = (Elf32_Addr)vaddr,
		.sh_offset = off,
		.sh_size = len,
		.sh_addralign = (Elf32_Word)shdr.sh_addralign,
	};

	if (word == 8)
		buf_put(b, &shdr, sizeof(shdr));
	else
		buf_put(b, &shdr32, sizeof(shdr32));
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
	const u32 eh_len = spec->eh_frame->len, word = spec->word ? spec->word : 8;
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
	u32 n = 2, i, at, hdr_len;

	memset(l, 0, sizeof(*l));
	/* The headers' page is filled at the end. */
	buf_uint(b, 0, 1);
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
	if (spec->gopclntab) {
		l->gopclntab = b->len;
		buf_put(b, spec->gopclntab->bytes, spec->gopclntab->len);
		buf_align(b, 8, 0);
	}
	if (spec->go_data) {
		l->go_data = b->len;
		for (i = 0; i < GO_DATA_TEXT; i++)
			buf_uint(b, i ? 0 : l->gopclntab + delta, 8);
		buf_uint(b, spec->go_data, 8);
	}
	phdrs[1].p_filesz = b->len - data;
	phdrs[1].p_memsz = phdrs[1].p_filesz;

	if (!spec->no_sections) {
		l->strings = b->len;
		buf_put(b, strings, sizeof(strings));
		buf_align(b, 8, 0);
		l->shdrs = b->len;
		l->nr_shdrs = 4;
		put_section(b, word, "", SHT_NULL, 0, 0, 0, 0);
		put_section(b, word, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
			    BUILD_TEXT, PAGE, text_len);
		put_section(b, word, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, BUILD_EH,
			    l->eh_frame, eh_len);
		put_section(b, word, ".shstrtab", SHT_STRTAB, 0, 0, l->strings,
			    sizeof(strings));
		if (spec->gopclntab) {
			put_section(b, word, spec->relro ? ".data.rel.ro.gopclntab" : ".gopclntab",
				    SHT_PROGBITS, SHF_ALLOC, l->gopclntab + delta, l->gopclntab,
				    spec->gopclntab->len);
			l->nr_shdrs++;
		}
		if (spec->go_data) {
			put_section(b, word, ".go.module", SHT_PROGBITS, SHF_ALLOC,
				    l->go_data + delta, l->go_data, 8 * GO_DATA_TEXT + 8);
			l->nr_shdrs++;
		}
		ehdr.e_shoff = l->shdrs;
		ehdr.e_shnum = (Elf64_Half)l->nr_shdrs;
		ehdr.e_shstrndx = 3;
	}
	l->nr_phdrs = n;
	l->phdrs = word == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	ehdr.e_phoff = l->phdrs;
	ehdr.e_phnum = (Elf64_Half)n;
	at = put_ehdr(b->bytes, word, &ehdr);
	for (i = 0; i < n; i++)
		at += put_phdr(b->bytes + at, word, &phdrs[i]);
}

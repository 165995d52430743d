/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Makes .eh_frame sections and ELF files for tests: valid as they come, so that
 * a test adds the one fault it is about.
 */
#ifndef HOST_BUILD_EH_FRAME_H
#define HOST_BUILD_EH_FRAME_H

#include "kunwind_port.h"

struct buf {
	u8 *bytes;
	u32 len;
	u32 room;
};

void buf_free(struct buf *b);
void buf_put(struct buf *b, const void *bytes, u32 len);
void buf_uint(struct buf *b, u64 value, u32 size);
void buf_uleb(struct buf *b, u64 value);
void buf_sleb(struct buf *b, s64 value);
void buf_align(struct buf *b, u32 align, u8 fill);
void buf_set32(struct buf *b, u32 pos, u32 value);

/* The bytes of a CFA program or an expression: PROG(0x0c, 7, 8) is rsp+8. */
struct prog {
	const u8 *bytes;
	u32 len;
};

#define PROG(...) \
	((struct prog){ .bytes = (const u8[]){ __VA_ARGS__ }, \
			.len = sizeof((const u8[]){ __VA_ARGS__ }) })
#define NO_PROG		((struct prog){ .bytes = NULL })

/* What gcc says at a function's entry: CFA = rsp+8, RA at CFA-8. */
#define ENTRY		PROG(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1)
/* The same of i386: CFA = esp+4, RA at CFA-4. */
#define ENTRY_I386	PROG(DW_CFA_def_cfa, 4, 4, DW_CFA_offset | 8, 1)

/* Where the sections of a test's file are in memory. */
#define BUILD_TEXT	0x1000ULL
#define BUILD_TEXT_LEN	0x10000u
#define BUILD_EH	0x20000ULL

/**
 * struct cie_spec - a CIE; 0 and NULL mean what compilers write
 * @word: bytes of an address: 8; or 4: it is of a file for i386
 * @version: 1
 * @aug: "zR"
 * @code_align: 1
 * @data_align: minus a word
 * @ra: 16; of i386: 8
 * @enc: of addresses; DW_EH_PE_pcrel | DW_EH_PE_sdata4; 0x100: DW_EH_PE_absptr
 * @personality_enc: of "P"
 * @lsda_enc: of "L"
 * @is_64bit: a 64-bit length
 * @aug_extra: bytes of augmentation data that no letter accounts for
 * @instrs: initial instructions; ENTRY or ENTRY_I386 if .bytes is NULL
 */
struct cie_spec {
	u32 word;
	u32 version;
	const char *aug;
	u64 code_align;
	s64 data_align;
	u32 ra;
	u32 enc;
	u8 personality_enc;
	u8 lsda_enc;
	bool is_64bit;
	u32 aug_extra;
	struct prog instrs;
};

/* Each appends a record and returns where it begins. */
u32 build_cie(struct buf *b, const struct cie_spec *spec);
u32 build_fde(struct buf *b, const struct cie_spec *spec, u32 cie, u64 start,
	      u64 len, struct prog instrs);
void build_terminator(struct buf *b);

/* One CIE of the usual kind and one FDE. */
void build_one(struct buf *b, u64 start, u64 len, struct prog instrs);

/* Append @value at its file address @vaddr as @enc says; an address has @word bytes. */
void build_encoded(struct buf *b, u32 enc, u32 word, u64 value, u64 vaddr);

/**
 * struct elf_spec - an ELF file around an .eh_frame
 * @eh_frame: the section
 * @word: bytes of an address: 8; or 4: a file for i386; 0: 8
 * @no_hdr: no .eh_frame_hdr and no PT_GNU_EH_FRAME
 * @no_sections: no section headers
 * @no_build_id: no note
 * @hdr_entries: .eh_frame_hdr has a search table, which core/ does not read
 * @gopclntab: Go's function table, or NULL
 * @relro: that is named as in a position-independent program
 * @go_data: what Go's data of the program's code say is the address of the text; 0: no such data
 * @text_len: bytes of text, whole pages, at most BUILD_EH - BUILD_TEXT; 0: one page
 */
struct elf_spec {
	const struct buf *eh_frame;
	u32 word;
	bool no_hdr;
	bool no_sections;
	bool no_build_id;
	bool hdr_entries;
	const struct buf *gopclntab;
	bool relro;
	u64 go_data;
	u32 text_len;
};

/* The index of that address in struct moduledata, among words. */
#define GO_DATA_TEXT	22

/* Where a file's parts are, for the test that is to damage one. */
struct elf_layout {
	u32 phdrs;	/* text, data, eh_frame_hdr, note */
	u32 nr_phdrs;
	u32 eh_frame;
	u32 eh_frame_hdr;
	u32 note;
	u32 gopclntab;
	u32 go_data;
	u32 shdrs;	/* null, text, eh_frame, strings, gopclntab, Go's data */
	u32 nr_shdrs;
	u32 strings;
};

void build_elf(struct buf *b, const struct elf_spec *spec,
	       struct elf_layout *layout);

#endif /* HOST_BUILD_EH_FRAME_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The reader finds what unwinding needs of an ELF file: where .eh_frame is, where the
 * executable segments are, and the build ID. It asks for pieces of the file, and never
 * holds more than one of them (gABI, LSB Core 10.6).
 */
#ifndef KUW_ELF_H
#define KUW_ELF_H

#include "kunwind_port.h"
#include "budgets.h"

/* The longest piece that kuw_elf_want() asks for. */
#define KUW_ELF_MAX_READ	(KUW_MAX_SHDRS * 64u)
/* How often a name that is looked for may be among the section names: others may end with it. */
#define KUW_ELF_NAMES		4
/* SHA-1 has 20 bytes, and no linker writes more than 32. */
#define KUW_BUILD_ID_MAX	32

/* Bytes of the file that are mapped at an address; @len is 0 if there are none. */
struct kuw_range {
	u64 off;
	u64 vaddr;
	u32 len;
};

/* One executable PT_LOAD. */
struct kuw_segment {
	u64 off;
	u64 vaddr;
	u64 filesz;
};

/**
 * struct kuw_elf - an ELF file as far as unwinding needs it
 * @file_size: bytes of the file; kuw_elf_want() asks for nothing beyond them
 * @word: bytes of an address: 8, or 4 in a file for i386
 * @eh_frame: where .eh_frame is
 * @eh_frame_exact: @eh_frame has the section's length; else it reaches to the end of the
 *	segment, and the first terminator ends the section
 * @gopclntab: where .gopclntab is, with which Go unwinds
 * @entry: the address of the first instruction
 * @segments: the executable segments
 * @nr_segments: how many
 * @build_id: NT_GNU_BUILD_ID
 * @build_id_len: its bytes, 0 if there is none
 */
struct kuw_elf {
	u64 file_size;
	u32 word;
	struct kuw_range eh_frame;
	struct kuw_range gopclntab;
	u64 entry;
	struct kuw_segment segments[KUW_MAX_SEGMENTS];
	u32 nr_segments;
	bool eh_frame_exact;
	u8 build_id_len;
	u8 build_id[KUW_BUILD_ID_MAX];
	/* private: the reader's own; see elf.c */
	u32 state;
	u32 phnum;
	u64 phoff;
	u64 shoff;
	u32 shnum;
	u32 shstrndx;
	struct kuw_range eh_frame_hdr;
	struct kuw_range notes[KUW_MAX_NOTE_SEGMENTS];
	u32 nr_notes;
	u32 note;
	struct kuw_range names;
	struct kuw_segment loads[KUW_MAX_SEGMENTS];
	u32 nr_loads;
	u32 name_at[KUW_ELF_NAMES];
	u32 nr_names;
	u32 go_name_at[KUW_ELF_NAMES];
	u32 nr_go_names;
};

void kuw_elf_init(struct kuw_elf *elf, u64 file_size);

/**
 * kuw_elf_want() - what to read next
 * @elf: the reader
 * @off: where in the file
 * @len: how many bytes, at most KUW_ELF_MAX_READ and inside the file
 *
 * Return: 1 if kuw_elf_feed() wants these bytes, 0 if all is known.
 */
int kuw_elf_want(const struct kuw_elf *elf, u64 *off, u32 *len);

/**
 * kuw_elf_feed() - take the bytes that kuw_elf_want() named
 * @elf: the reader
 * @bytes: the bytes
 * @len: the length that kuw_elf_want() set
 *
 * Return: 0; -ENOEXEC if it is no ELF file of this architecture; -EINVAL if
 *	it contradicts itself; -ENODATA if it has no unwind information.
 */
int kuw_elf_feed(struct kuw_elf *elf, const void *bytes, u32 len);

#endif /* KUW_ELF_H */

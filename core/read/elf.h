/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The reader finds what unwinding needs of an ELF file: where .eh_frame and .gopclntab are, where
 * the executable segments are, and the build ID. It has its caller read pieces of the file
 * (gABI, LSB Core 10.6).
 */
#ifndef KUW_ELF_H
#define KUW_ELF_H

#include "kunwind_port.h"
#include "budgets.h"

/* The longest piece that the reader asks for. */
#define KUW_ELF_MAX_READ	(KUW_MAX_SHDRS * 64u)
/* The pieces that it has at the same time: section headers, and the names of sections. */
#define KUW_ELF_PIECES		2
/* SHA-1 has 20 bytes, and no linker writes more than 32. */
#define KUW_BUILD_ID_MAX	32

/* Bytes of the file that are mapped at an address; @len is 0 if there are none. */
struct kuw_range {
	u64 off;
	u64 vaddr;
	u32 len;
};

/* A PT_LOAD. */
struct kuw_segment {
	u64 off;
	u64 vaddr;
	u64 filesz;
};

/* Return: the segment that has an address; NULL if none of @nr has it. */
static inline const struct kuw_segment *kuw_segment_of(const struct kuw_segment *seg, u32 nr,
						       u64 vaddr)
{
	for (; nr; nr--, seg++)
		if (vaddr - seg->vaddr < seg->filesz)
			return seg;
	return NULL;
}

/* An ELF file as far as unwinding needs it. */
struct kuw_elf {
	u32 word;			/* bytes of an address: 8, or 4 in a file for i386 */
	struct kuw_range eh_frame;
	struct kuw_range gopclntab;	/* with which Go unwinds */
	u64 go_text;			/* the address of Go's code; 0: .go.module says none */
	u64 entry;			/* the address of the first instruction */
	struct kuw_segment segments[KUW_MAX_SEGMENTS];
	u32 nr_segments;
	/*
	 * @eh_frame has the section's length. Otherwise it reaches to the end of the segment, and
	 * the first terminator ends the section.
	 */
	bool eh_frame_exact;
	u8 build_id_len;		/* bytes of NT_GNU_BUILD_ID, 0 if there is none */
	u8 build_id[KUW_BUILD_ID_MAX];
	/* private: all segments; too large for elf.c's stack */
	struct kuw_segment loads[KUW_MAX_SEGMENTS];
	u32 nr_loads;
};

/*
 * How the caller reads the file, of @size bytes. @read reads @len bytes at @off, which are in the
 * file, and at most KUW_ELF_MAX_READ. They stay until the next call with the same @piece, below
 * KUW_ELF_PIECES. Return: 0, or the caller's own error.
 */
struct kuw_elf_file {
	u64 size;
	int (*read)(struct kuw_elf_file *file, u32 piece, u64 off, u32 len, const u8 **bytes);
};

/*
 * Read a file. Return: 0; -ENOEXEC if it is no ELF file of this architecture; -EINVAL if it
 * contradicts itself; -ENODATA if it has no unwind information; an error of @file. A build ID
 * that has been found stays with an error, too.
 */
int kuw_elf_read(struct kuw_elf *elf, struct kuw_elf_file *file);

#endif /* KUW_ELF_H */

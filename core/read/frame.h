/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The records of .eh_frame: CIEs and FDEs (LSB Core 10.6, DWARF 5 6.4.1). */
#ifndef KUW_FRAME_H
#define KUW_FRAME_H

#include "arch/arch.h"
#include "cursor.h"

/* Pointer encodings (LSB Core 10.5.1). */
#define DW_EH_PE_absptr		0x00
#define DW_EH_PE_udata4		0x03
#define DW_EH_PE_udata8		0x04
#define DW_EH_PE_sdata4		0x0b
#define DW_EH_PE_sdata8		0x0c
#define DW_EH_PE_pcrel		0x10
#define DW_EH_PE_aligned	0x50
#define DW_EH_PE_omit		0xff

/* A section's bytes and where they are in memory. */
struct kuw_section {
	const u8 *bytes;
	u32 len;
	u32 word;	/* bytes of an address in it: 8, or 4 in a file for i386 */
	u64 vaddr;	/* the file address of the first byte */
};

/* The head of a CIE or FDE. */
struct kuw_record {
	struct kuw_cur body;	/* what follows the CIE ID or CIE pointer */
	u32 cie;		/* for an FDE, where its CIE starts; for a CIE, KUW_IS_CIE */
	u32 next;		/* where the next record starts */
};

#define KUW_IS_CIE	(~0u)

/* Bytes of a terminator: a length of 0. */
#define KUW_TERMINATOR	4

/* What a CIE says about its FDEs. */
struct kuw_cie {
	struct kuw_cur instrs;	/* the initial instructions */
	u64 code_align;		/* factor of the deltas of advances */
	s64 data_align;		/* factor of offsets */
	u8 enc;			/* DW_EH_PE of the addresses in its FDEs */
	bool augmented;		/* its FDEs have augmentation data ("z") */
	bool signal;		/* its FDEs are signal frames ("S") */
	u32 len;		/* bytes of its record; 0 if its head is damaged */
};

struct kuw_fde {
	struct kuw_cur instrs;
	u64 start;	/* file address of the first byte that it covers */
	u64 len;	/* how many bytes it covers */
};

/*
 * Read a pointer of .eh_frame or .eh_frame_hdr. @c is inside @section, which gives pcrel its base.
 * Absolute addresses and pcrel are all that compilers and linkers write. Others make the cursor
 * bad. Return: the pointer; 0 if the cursor is bad.
 */
u64 kuw_read_encoded(struct kuw_cur *c, u8 enc, const struct kuw_section *section);

/*
 * Read the head of the record at @pos of .eh_frame. Return: 1 for a record; 0 for a terminator,
 * which sets only @record->next; -EINVAL if the record is damaged or too long. If its length is
 * damaged, @record->next is 0.
 */
int kuw_read_record(const struct kuw_section *section, u32 pos,
		    struct kuw_record *record);

/* Return: 0; -EINVAL if it is damaged; -EOPNOTSUPP if it is for another machine, or is unknown. */
int kuw_parse_cie(const struct kuw_section *section, u32 pos,
		  struct kuw_cie *cie);

/* @record is that of an FDE, and @cie is its CIE. Return: 0, -EINVAL. */
int kuw_parse_fde(const struct kuw_section *section, const struct kuw_record *record,
		  const struct kuw_cie *cie, struct kuw_fde *fde);

#endif /* KUW_FRAME_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The records of .eh_frame: CIEs and FDEs (LSB Core 10.6, DWARF 5 6.4.1). */
#ifndef KUW_FRAME_H
#define KUW_FRAME_H

#include "arch/i386.h"
#include "cursor.h"
#include "limits.h"

/* Pointer encodings (LSB Core 10.5.1). */
#define DW_EH_PE_absptr		0x00
#define DW_EH_PE_uleb128	0x01
#define DW_EH_PE_udata2		0x02
#define DW_EH_PE_udata4		0x03
#define DW_EH_PE_udata8		0x04
#define DW_EH_PE_sleb128	0x09
#define DW_EH_PE_sdata2		0x0a
#define DW_EH_PE_sdata4		0x0b
#define DW_EH_PE_sdata8		0x0c
#define DW_EH_PE_pcrel		0x10
#define DW_EH_PE_textrel	0x20
#define DW_EH_PE_datarel	0x30
#define DW_EH_PE_funcrel	0x40
#define DW_EH_PE_aligned	0x50
#define DW_EH_PE_indirect	0x80
#define DW_EH_PE_omit		0xff

/**
 * struct kuw_section - a section's bytes and where they are in memory
 * @bytes: the bytes
 * @len: how many
 * @word: bytes of an address in it: 8, or 4 in a file for i386
 * @vaddr: the file address of the first
 */
struct kuw_section {
	const u8 *bytes;
	u32 len;
	u32 word;
	u64 vaddr;
};

/* Return: the place (KUW_RBX and so on) of a register number in the section. */
static inline u64 kuw_section_reg(const struct kuw_section *section, u64 reg)
{
	return likely(section->word == KUW_WORD) ? reg : kuw_i386_reg(reg);
}

/**
 * struct kuw_record - the head of a CIE or FDE
 * @body: what follows the CIE ID or CIE pointer
 * @cie: for an FDE, where its CIE starts; for a CIE, KUW_IS_CIE
 * @next: where the next record starts
 */
struct kuw_record {
	struct kuw_cur body;
	u32 cie;
	u32 next;
};

#define KUW_IS_CIE	(~0u)

/* Bytes of a terminator: a length of 0. */
#define KUW_TERMINATOR	4

/**
 * struct kuw_cie - what a CIE says about its FDEs
 * @instrs: the initial instructions
 * @code_align: factor of the deltas of advances
 * @data_align: factor of offsets
 * @enc: DW_EH_PE of the addresses in its FDEs
 * @augmented: its FDEs have augmentation data ("z")
 * @signal: its FDEs are signal frames ("S")
 * @len: bytes of its record, even if it is damaged
 */
struct kuw_cie {
	struct kuw_cur instrs;
	u64 code_align;
	s64 data_align;
	u8 enc;
	bool augmented;
	bool signal;
	u32 len;
};

/**
 * struct kuw_fde - an FDE
 * @instrs: the instructions
 * @start: file address of the first byte that it covers
 * @len: how many bytes it covers
 */
struct kuw_fde {
	struct kuw_cur instrs;
	u64 start;
	u64 len;
};

/**
 * kuw_read_encoded() - read a pointer of .eh_frame or .eh_frame_hdr
 * @c: the cursor, inside @section
 * @enc: DW_EH_PE
 * @section: gives pcrel its base
 * @data: the base of datarel
 *
 * DW_EH_PE_indirect and funcrel have no meaning before a process runs, and textrel has
 * the base 0 on this architecture. All three make the cursor bad.
 *
 * Return: the pointer; 0 if the cursor is bad.
 */
u64 kuw_read_encoded(struct kuw_cur *c, u8 enc,
		     const struct kuw_section *section, u64 data);

/**
 * kuw_read_record() - read the head of a record
 * @section: .eh_frame
 * @pos: where it starts
 * @record: the answer
 *
 * Return: 1 for a record; 0 for a terminator, which sets only @record->next; -EINVAL if
 *	the record is damaged or too long. If its length is damaged, @record->next is 0.
 */
static inline int kuw_read_record(const struct kuw_section *section, u32 pos,
				  struct kuw_record *record)
{
	struct kuw_cur c;
	u32 id_pos, id, word;
	u64 len;

	record->next = 0;
	if (pos > section->len)
		return -EINVAL;
	c = kuw_cur(section->bytes + pos, section->len - pos);
	word = kuw_u32(&c);
	len = word;
	if (!len && !c.bad) {
		record->next = pos + KUW_TERMINATOR;
		return 0;
	}
	/* The extended length; the CIE ID stays 4 bytes (LSB Core 10.6.1). */
	if (unlikely(word == 0xffffffff))
		len = kuw_u64(&c);
	if (c.bad || len > kuw_left(&c))
		return -EINVAL;
	c.end = c.p + len;
	record->next = c.end - section->bytes;
	if (len > KUW_MAX_RECORD)
		return -EINVAL;
	id_pos = c.p - section->bytes;
	id = kuw_u32(&c);
	/* A CIE pointer is the distance back from itself. */
	if (c.bad || id > id_pos)
		return -EINVAL;
	record->cie = id ? id_pos - id : KUW_IS_CIE;
	record->body.p = c.p;
	record->body.end = c.end;
	record->body.bad = false;
	return 1;
}

/* Return: 0, -EINVAL if it is damaged, -EOPNOTSUPP if it is for another machine. */
int kuw_parse_cie(const struct kuw_section *section, u32 pos,
		  struct kuw_cie *cie);

/* Read the addresses of an FDE, whatever their encoding. */
void kuw_read_range(const struct kuw_section *section, struct kuw_cur *c,
		    u8 enc, struct kuw_fde *fde);

/* Return: 0, -EINVAL. */
static inline int kuw_parse_fde(const struct kuw_section *section,
				const struct kuw_record *record,
				const struct kuw_cie *cie, struct kuw_fde *fde)
{
	struct kuw_cur c = record->body, copy;
	struct kuw_fde range;

	/* The encoding that GNU tools write on this machine. */
	if (likely(cie->enc == (DW_EH_PE_pcrel | DW_EH_PE_sdata4) &&
		   kuw_left(&c) >= 8)) {
		fde->start = section->vaddr + (c.p - section->bytes) +
			     (s32)get_unaligned_le32(c.p);
		fde->len = (s64)(s32)get_unaligned_le32(c.p + 4);
		c.p += 8;
	} else {
		/* The reason for a copy: see kuw_uleb(). */
		copy = c;
		kuw_read_range(section, &copy, cie->enc, &range);
		c = copy;
		fde->start = range.start;
		fde->len = range.len;
	}
	/* Addresses of 32 bits wrap; so does a distance that leads below 0. */
	if (unlikely(section->word != KUW_WORD)) {
		fde->start = (u32)fde->start;
		fde->len = (u32)fde->len;
	}
	if (cie->augmented)
		kuw_bytes(&c, kuw_uleb(&c));
	/* One by one: a load of both would stall until both separate stores are done. */
	fde->instrs.p = c.p;
	fde->instrs.end = c.end;
	fde->instrs.bad = false;
	return c.bad ? -EINVAL : 0;
}

#endif /* KUW_FRAME_H */

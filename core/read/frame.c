// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The records of .eh_frame: CIEs and FDEs (LSB Core 10.6, DWARF 5 6.4.1). */
#include "frame.h"
#include "budgets.h"

/* No compiler writes pointers of 16 bits, or of any number of bytes. */
static u64 read_format(struct kuw_cur *c, u8 enc, const struct kuw_section *section)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
		return section->word == KUW_WORD ? kuw_u64(c) : kuw_u32(c);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return kuw_u64(c);
	case DW_EH_PE_udata4:
		return kuw_u32(c);
	case DW_EH_PE_sdata4:
		return (s32)kuw_u32(c);
	}
	kuw_fail(c);
	return 0;
}

u64 kuw_read_encoded(struct kuw_cur *c, u8 enc, const struct kuw_section *section)
{
	u64 here = section->vaddr + kuw_pos(c, section->bytes);

	switch (enc & 0xf0) {
	case DW_EH_PE_absptr:
		return kuw_narrow(section->word, read_format(c, enc, section));
	case DW_EH_PE_pcrel:
		return kuw_narrow(section->word, here + read_format(c, enc, section));
	}
	kuw_fail(c);
	return 0;
}

int kuw_read_record(const struct kuw_section *section, u32 pos,
		    struct kuw_record *record)
{
	struct kuw_cur c = kuw_cur_from(section->bytes, section->len, pos);
	u32 id_pos, id, word;
	u64 len;

	record->next = 0;
	word = kuw_u32(&c);
	len = word;
	if (!len && kuw_good(&c)) {
		record->next = pos + KUW_TERMINATOR;
		return 0;
	}
	/* The extended length; the CIE ID stays 4 bytes (LSB Core 10.6.1). */
	if (word == 0xffffffff)
		len = kuw_u64(&c);
	if (!kuw_good(&c) || !kuw_cut(&c, len))
		return -EINVAL;
	id_pos = kuw_pos(&c, section->bytes);
	record->next = id_pos + len;
	if (len > KUW_MAX_RECORD)
		return -EINVAL;
	id = kuw_u32(&c);
	/* A CIE pointer is the distance back from itself. */
	if (!kuw_good(&c) || id > id_pos)
		return -EINVAL;
	record->cie = id ? id_pos - id : KUW_IS_CIE;
	record->body = c;
	return 1;
}

/* Read the augmentation's data, which the letters @aug after "z" describe. */
static void parse_augmentation(const struct kuw_section *section,
			       struct kuw_cur *c, struct kuw_cur aug,
			       struct kuw_cie *cie)
{
	u64 len = kuw_uleb(c);
	struct kuw_cur data = *c;
	u8 enc, letter;

	if (!kuw_bytes(c, len) || !kuw_cut(&data, len))
		return;
	cie->augmented = true;
	while ((letter = kuw_u8(&aug))) {
		switch (letter) {
		case 'R':
			cie->enc = kuw_u8(&data);
			break;
		case 'P':
			enc = kuw_u8(&data);
			/* Skip the address of the personality routine. */
			if (enc == DW_EH_PE_aligned)
				kuw_fail(&data);
			else if (enc != DW_EH_PE_omit)
				read_format(&data, enc, section);
			break;
		case 'L':
			kuw_u8(&data);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* arm64: return addresses are signed */
		case 'G':	/* arm64: tagged memory */
			break;
		default:
			/* The length of its data is unknown: end here, as libgcc does. */
			goto out;
		}
	}
out:
	if (!kuw_good(&data))
		kuw_fail(c);
}

int kuw_parse_cie(const struct kuw_section *section, u32 pos,
		  struct kuw_cie *cie)
{
	struct kuw_record record;
	struct kuw_cur *c = &record.body, aug;
	u8 version, letter;
	u64 ra;

	memset(cie, 0, sizeof(*cie));
	if (kuw_read_record(section, pos, &record) != 1)
		return -EINVAL;
	cie->len = kuw_left(c);
	if (record.cie != KUW_IS_CIE)
		return -EINVAL;
	version = kuw_u8(c);
	if (version != 1 && version != 3 && version != 4)
		return -EOPNOTSUPP;
	aug = *c;
	while (kuw_u8(c))
		;
	if (!kuw_good(c))
		return -EINVAL;
	letter = kuw_u8(&aug);
	if (version == 4) {
		/* Address size, segment selector size. */
		if (kuw_u8(c) != section->word || kuw_u8(c))
			return -EOPNOTSUPP;
	}
	cie->code_align = kuw_uleb(c);
	cie->data_align = kuw_sleb(c);
	ra = version == 1 ? kuw_u8(c) : kuw_uleb(c);
	if (letter == 'z')
		parse_augmentation(section, c, aug, cie);
	else if (letter)
		return -EOPNOTSUPP;
	if (!kuw_good(c))
		return -EINVAL;
	if (kuw_place_of(section->word, ra) != KUW_RA)
		return -EOPNOTSUPP;
	cie->instrs = *c;
	return 0;
}

int kuw_parse_fde(const struct kuw_section *section, const struct kuw_record *record,
		  const struct kuw_cie *cie, struct kuw_fde *fde)
{
	struct kuw_cur c = record->body;

	fde->start = kuw_read_encoded(&c, cie->enc, section);
	/* The length has the format of the address, but is relative to nothing. */
	fde->len = kuw_narrow(section->word, read_format(&c, cie->enc, section));
	if (cie->augmented)
		kuw_bytes(&c, kuw_uleb(&c));
	fde->instrs = c;
	return kuw_good(&c) ? 0 : -EINVAL;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The records of .eh_frame: CIEs and FDEs (LSB Core 10.6, DWARF 5 6.4.1). */
#include "frame.h"

static u64 read_address(struct kuw_cur *c, const struct kuw_section *section)
{
	return section->word == KUW_WORD ? kuw_u64(c) : kuw_u32(c);
}

static u64 read_format(struct kuw_cur *c, u8 enc,
		       const struct kuw_section *section)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
		return read_address(c, section);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return kuw_u64(c);
	case DW_EH_PE_uleb128:
		return kuw_uleb(c);
	case DW_EH_PE_udata2:
		return kuw_u16(c);
	case DW_EH_PE_udata4:
		return kuw_u32(c);
	case DW_EH_PE_sleb128:
		return kuw_sleb(c);
	case DW_EH_PE_sdata2:
		return (s16)kuw_u16(c);
	case DW_EH_PE_sdata4:
		return (s32)kuw_u32(c);
	}
	kuw_fail(c);
	return 0;
}

u64 kuw_read_encoded(struct kuw_cur *c, u8 enc,
		     const struct kuw_section *section, u64 data)
{
	u64 here = section->vaddr + (c->p - section->bytes);

	if (enc & DW_EH_PE_indirect) {
		kuw_fail(c);
		return 0;
	}
	switch (enc & 0x70) {
	case DW_EH_PE_absptr:
		return read_format(c, enc, section);
	case DW_EH_PE_pcrel:
		return here + read_format(c, enc, section);
	case DW_EH_PE_datarel:
		return data + read_format(c, enc, section);
	case DW_EH_PE_aligned:
		kuw_bytes(c, -here & (section->word - 1));
		return read_address(c, section);
	}
	kuw_fail(c);
	return 0;
}

static void parse_augmentation(const struct kuw_section *section,
			       struct kuw_cur *c, const u8 *letter,
			       struct kuw_cie *cie)
{
	struct kuw_cur data;
	u64 len = kuw_uleb(c);
	const u8 *bytes = kuw_bytes(c, len);
	u8 enc;

	if (!bytes)
		return;
	data = kuw_cur(bytes, len);
	cie->augmented = true;
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R':
			cie->enc = kuw_u8(&data);
			break;
		case 'P':
			enc = kuw_u8(&data);
			/* Skip the address of the personality routine. */
			if (enc != DW_EH_PE_omit)
				kuw_read_encoded(&data, enc & 0x7f, section, 0);
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
			letter += strlen((const char *)letter) - 1;
			break;
		}
	}
	if (data.bad)
		kuw_fail(c);
}

int kuw_parse_cie(const struct kuw_section *section, u32 pos,
		  struct kuw_cie *cie)
{
	struct kuw_record record;
	struct kuw_cur *c = &record.body;
	const u8 *aug;
	u64 ra;
	u8 version;

	memset(cie, 0, sizeof(*cie));
	if (kuw_read_record(section, pos, &record) != 1)
		return -EINVAL;
	cie->len = kuw_left(c);
	if (record.cie != KUW_IS_CIE)
		return -EINVAL;
	version = kuw_u8(c);
	if (version != 1 && version != 3 && version != 4)
		return -EOPNOTSUPP;
	aug = c->p;
	while (kuw_u8(c))
		;
	if (c->bad)
		return -EINVAL;
	if (aug[0] == 'e' && aug[1] == 'h') {
		/* g++ 2: a pointer to the exception table comes first. */
		read_address(c, section);
		aug += 2;
	}
	if (version == 4) {
		/* Address size, segment selector size. */
		if (kuw_u8(c) != section->word || kuw_u8(c))
			return -EOPNOTSUPP;
	}
	cie->code_align = kuw_uleb(c);
	cie->data_align = kuw_sleb(c);
	ra = version == 1 ? kuw_u8(c) : kuw_uleb(c);
	cie->enc = DW_EH_PE_absptr;
	if (aug[0] == 'z')
		parse_augmentation(section, c, aug + 1, cie);
	else if (aug[0])
		return -EOPNOTSUPP;
	if (c->bad)
		return -EINVAL;
	if (kuw_section_reg(section, ra) != KUW_RA)
		return -EOPNOTSUPP;
	cie->instrs = *c;
	return 0;
}

void kuw_read_range(const struct kuw_section *section, struct kuw_cur *c,
		    u8 enc, struct kuw_fde *fde)
{
	fde->start = kuw_read_encoded(c, enc, section, 0);
	/* The length has the format of the address, but is relative to nothing. */
	if ((enc & 0x70) == DW_EH_PE_aligned)
		fde->len = read_address(c, section);
	else
		fde->len = read_format(c, enc, section);
}

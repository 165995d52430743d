// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Records of .eh_frame, as LSB Core 10.6 describes them. */
#include <dwarf.h>
#include <stdlib.h>
#include "build_eh_frame.h"
#include "frame.h"

void buf_free(struct buf *b)
{
	free(b->bytes);
	memset(b, 0, sizeof(*b));
}

void buf_put(struct buf *b, const void *bytes, u32 len)
{
	if (b->len + len > b->room) {
		b->room = 2 * (b->len + len) + 256;
		b->bytes = realloc(b->bytes, b->room);
		if (!b->bytes)
			abort();
	}
	if (len)
		memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
}

void buf_uint(struct buf *b, u64 value, u32 size)
{
	buf_put(b, &value, size);
}

void buf_uleb(struct buf *b, u64 value)
{
	do {
		buf_uint(b, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
		value >>= 7;
	} while (value);
}

void buf_sleb(struct buf *b, s64 value)
{
	bool more;

	do {
		u8 byte = value & 0x7f;

		value >>= 7;
		more = value != (byte & 0x40 ? -1 : 0);
		buf_uint(b, byte | (more ? 0x80 : 0), 1);
	} while (more);
}

void buf_align(struct buf *b, u32 align, u8 fill)
{
	while (b->len % align)
		buf_put(b, &fill, 1);
}

void buf_set32(struct buf *b, u32 pos, u32 value)
{
	if (pos + 4 > b->len)
		abort();
	memcpy(b->bytes + pos, &value, 4);
}

void build_encoded(struct buf *b, u32 enc, u32 word, u64 value, u64 vaddr)
{
	if ((enc & 0x70) == DW_EH_PE_aligned) {
		buf_align(b, word, 0);
		buf_uint(b, value, word);
		return;
	}
	if ((enc & 0x70) == DW_EH_PE_pcrel)
		value -= vaddr;
	switch (enc & 0x0f) {
	case DW_EH_PE_uleb128:
		buf_uleb(b, value);
		break;
	case DW_EH_PE_sleb128:
		buf_sleb(b, (s64)value);
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		buf_uint(b, value, 2);
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		buf_uint(b, value, 4);
		break;
	case DW_EH_PE_absptr:
		buf_uint(b, value, word);
		break;
	default:
		buf_uint(b, value, 8);
	}
}

static u32 word_of(const struct cie_spec *spec)
{
	return spec->word ? spec->word : 8;
}

/* A record's length is known at its end. */
static u32 begin(struct buf *b, bool is_64bit)
{
	u32 pos = b->len;

	buf_uint(b, is_64bit ? 0xffffffff : 0, 4);
	if (is_64bit)
		buf_uint(b, 0, 8);
	return pos;
}

static void end(struct buf *b, u32 pos, bool is_64bit)
{
	u32 head = is_64bit ? 12 : 4;

	buf_align(b, 8, DW_CFA_nop);
	buf_set32(b, pos + head - (is_64bit ? 8 : 4), b->len - pos - head);
}

static u32 fde_enc(const struct cie_spec *spec)
{
	const char *aug = spec->aug ? spec->aug : "zR";

	if (!strchr(aug, 'R'))
		return DW_EH_PE_absptr;
	return spec->enc ? spec->enc & 0xff :
		DW_EH_PE_pcrel | DW_EH_PE_sdata4;
}

static void augmentation(struct buf *b, const struct cie_spec *spec,
			 const char *aug, u64 vaddr)
{
	struct buf data = { 0 };
	u32 i;

	for (; *aug; aug++) {
		if (*aug == 'R') {
			buf_uint(&data, fde_enc(spec), 1);
		} else if (*aug == 'L') {
			buf_uint(&data, spec->lsda_enc, 1);
		} else if (*aug == 'P') {
			buf_uint(&data, spec->personality_enc, 1);
			if ((spec->personality_enc & 0x70) == DW_EH_PE_aligned)
				while ((vaddr + 1 + data.len) % word_of(spec))
					buf_uint(&data, 0, 1);
			build_encoded(&data, spec->personality_enc & 0x0f,
				      word_of(spec), BUILD_TEXT, vaddr);
		}
	}
	for (i = 0; i < spec->aug_extra; i++)
		buf_uint(&data, 0xa5, 1);
	buf_uleb(b, data.len);
	buf_put(b, data.bytes, data.len);
	buf_free(&data);
}

u32 build_cie(struct buf *b, const struct cie_spec *spec)
{
	const char *aug = spec->aug ? spec->aug : "zR";
	u32 pos = begin(b, spec->is_64bit), word = word_of(spec);
	u32 version = spec->version ? spec->version : 1;
	u32 ra = spec->ra ? spec->ra : word == 8 ? 16 : 8;
	struct prog instrs = spec->instrs.bytes ? spec->instrs :
			     word == 8 ? ENTRY : ENTRY_I386;

	/* The CIE ID has 4 bytes in .eh_frame, 64-bit records included. */
	buf_uint(b, 0, 4);
	buf_uint(b, version, 1);
	buf_put(b, aug, (u32)strlen(aug) + 1);
	if (!strncmp(aug, "eh", 2))
		buf_uint(b, 0x1234, word);
	if (version >= 4)
		buf_uint(b, word, 2);
	buf_uleb(b, spec->code_align ? spec->code_align : 1);
	buf_sleb(b, spec->data_align ? spec->data_align : -(s64)word);
	if (version == 1)
		buf_uint(b, ra, 1);
	else
		buf_uleb(b, ra);
	if (*aug == 'z')
		augmentation(b, spec, aug, BUILD_EH + b->len);
	buf_put(b, instrs.bytes, instrs.len);
	end(b, pos, spec->is_64bit);
	return pos;
}

u32 build_fde(struct buf *b, const struct cie_spec *spec, u32 cie, u64 start,
	      u64 len, struct prog instrs)
{
	const char *aug = spec->aug ? spec->aug : "zR";
	u32 pos = begin(b, spec->is_64bit), enc = fde_enc(spec);

	buf_uint(b, b->len - cie, 4);
	build_encoded(b, enc, word_of(spec), start, BUILD_EH + b->len);
	build_encoded(b, enc & 0x0f, word_of(spec), len, 0);
	if (*aug == 'z') {
		if (strchr(aug, 'L') && spec->lsda_enc != DW_EH_PE_omit) {
			buf_uleb(b, 4);
			buf_uint(b, 0x11223344, 4);
		} else {
			buf_uleb(b, 0);
		}
	}
	buf_put(b, instrs.bytes, instrs.len);
	end(b, pos, spec->is_64bit);
	return pos;
}

void build_terminator(struct buf *b)
{
	buf_uint(b, 0, 4);
}

void build_one(struct buf *b, u64 start, u64 len, struct prog instrs)
{
	const struct cie_spec spec = { 0 };

	build_fde(b, &spec, build_cie(b, &spec), start, len, instrs);
}

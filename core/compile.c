// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A compilation: its phases, one after the other. */
#include "compile.h"

static int (*const phases[])(struct kuw_compile *c) = {
	kuw_intern_init,
	kuw_scan,
	kuw_scan_header,
	kuw_sort_split,
	kuw_sort_away,
	kuw_sort_merge,
	kuw_place_init,
	kuw_place_rows,
	kuw_encode_rank,
	kuw_encode_layout,
	kuw_encode_blocks,
};

bool kuw_compile_grow(struct kuw_compile *c, u32 area, u64 bytes)
{
	/* Start with what ordinary files need, so that large areas need not be copied. */
	if (area == KUW_AREA_FOUND)
		bytes = max_t(u64, bytes, c->eh_frame.len);
	if (area == KUW_AREA_FDES)
		bytes = max_t(u64, bytes, c->eh_frame.len / 3);
	if (area == KUW_AREA_ROWS)
		bytes = max_t(u64, bytes, c->max_rows * (sizeof(u64) / 2));
	c->grow = area;
	c->grow_bytes = max_t(u64, bytes, 2 * c->areas[area].bytes);
	c->grow_bytes = max_t(u64, c->grow_bytes, 1024);
	return false;
}

void kuw_compile_init(struct kuw_compile *c, const struct kuw_image *image)
{
	const struct kuw_elf *elf = image->elf;
	u32 i;

	memset(c, 0, offsetof(struct kuw_compile, scratch));
	c->elf = elf;
	c->segment = elf->segments;
	c->eh_frame.bytes = image->eh_frame;
	c->eh_frame.len = elf->eh_frame.len;
	c->eh_frame.vaddr = elf->eh_frame.vaddr;
	c->eh_frame.word = elf->word;
	if (image->eh_frame_hdr) {
		c->eh_frame_hdr.bytes = image->eh_frame_hdr;
		c->eh_frame_hdr.len = elf->eh_frame_hdr.len;
		c->eh_frame_hdr.vaddr = elf->eh_frame_hdr.vaddr;
		c->eh_frame_hdr.word = elf->word;
	}
	c->base = ~0ULL;
	for (i = 0; i < elf->nr_segments; i++)
		c->base = min_t(u64, c->base, elf->segments[i].vaddr);
	/* Aligned, so that an offset is as aligned as its address. */
	c->base &= -(u64)KUW_FDE_ALIGN;
	for (i = 0; i < KUW_CIE_SLOTS; i++)
		c->slots[i].pos = KUW_IS_CIE;
}

int kuw_compile_step(struct kuw_compile *c)
{
	int ret;

	if (c->phase == ARRAY_SIZE(phases))
		return 0;
	if (c->areas[KUW_AREA_HASH].bytes >= 4ULL * sizeof(u32) << c->hash_bits)
		kuw_intern_rehash(c);
	c->batch_bytes = 0;
	ret = phases[c->phase](c);
	if (!ret) {
		c->pos = 0;
		if (++c->phase < ARRAY_SIZE(phases))
			ret = KUW_AGAIN;
	}
	return ret == -ENOSPC ? KUW_GROW : ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A compilation: its phases, one after the other, and what goes from one to the next. */
#include "compile.h"

/* Its rows take as much room as those of an .eh_frame of this part of .gopclntab's bytes. */
#define GO_PART	8

static int begin(struct kuw_compile *c)
{
	c->intern.areas = &c->areas;
	c->intern.word = c->scan.eh_frame.word;
	c->pairs.areas = &c->areas;
	c->pairs.intern = &c->intern;
	c->pairs.found = &c->scan.found;
	return kuw_intern_init(&c->intern, c->scan.eh_frame.len + c->gopclntab.len / GO_PART);
}

/* Go's functions come first: where both start at one address, FDEs are right. */
static int go_header(struct kuw_compile *c)
{
	return kuw_gopclntab_header(&c->gopclntab);
}

static int go_entry(struct kuw_compile *c)
{
	return kuw_gopclntab_entry(&c->gopclntab);
}

static int go_funcs(struct kuw_compile *c)
{
	return kuw_gopclntab_funcs(&c->gopclntab);
}

static int scan_records(struct kuw_compile *c)
{
	return kuw_scan_records(&c->scan);
}

static int sort_begin(struct kuw_compile *c)
{
	kuw_sort_begin(&c->sort, kuw_area(&c->areas, KUW_AREA_FDES), c->scan.nr_fdes);
	return 0;
}

static int sort_fdes(struct kuw_compile *c)
{
	return kuw_sort_step(&c->sort);
}

static int rank(struct kuw_compile *c)
{
	c->place.fdes = c->sort.items;
	c->place.nr_fdes = c->sort.n;
	c->pairs.fdes = c->sort.items;
	c->pairs.nr_fdes = c->sort.n;
	c->rank.areas = &c->areas;
	c->rank.intern = &c->intern;
	c->rank.pairs = &c->pairs;
	c->rank.sort = &c->sort;
	return kuw_rank(&c->rank);
}

static int place_init(struct kuw_compile *c)
{
	c->place.areas = &c->areas;
	c->place.found = &c->scan.found;
	c->place.pairs = &c->pairs;
	return kuw_place_init(&c->place);
}

static int place_rows(struct kuw_compile *c)
{
	return kuw_place_rows(&c->place);
}

static int encode_layout(struct kuw_compile *c)
{
	c->encode.areas = &c->areas;
	c->encode.scan = &c->scan;
	c->encode.place = &c->place;
	c->encode.rank = &c->rank;
	return kuw_encode_layout(&c->encode);
}

static int encode_entries(struct kuw_compile *c)
{
	return kuw_encode_entries(&c->encode);
}

/* Each returns 0 when it is done, KUW_AGAIN, -ENOSPC, or an error of kuw_compile_step(). */
static int (*const phases[])(struct kuw_compile *c) = {
	begin,
	go_header,
	go_entry,
	go_funcs,
	scan_records,
	sort_begin,
	sort_fdes,
	rank,
	place_init,
	place_rows,
	encode_layout,
	encode_entries,
};

static struct kuw_section section(const struct kuw_elf *elf, const struct kuw_range *range,
				  const u8 *bytes)
{
	return (struct kuw_section){
		.bytes = bytes, .len = bytes ? range->len : 0,
		.word = elf->word, .vaddr = range->vaddr,
	};
}

void kuw_compile_init(struct kuw_compile *c, const struct kuw_image *image)
{
	const struct kuw_elf *elf = image->elf;
	struct kuw_scan *s = &c->scan;
	u32 i, len;

	memset(c, 0, sizeof(*c));
	if (image->gopclntab && elf->word == KUW_WORD) {
		c->gopclntab.bytes = image->gopclntab;
		c->gopclntab.len = elf->gopclntab.len;
	}
	c->gopclntab.scan = s;
	len = elf->eh_frame.len + c->gopclntab.len / GO_PART;
	c->areas.least[KUW_AREA_FOUND] = len;
	c->areas.least[KUW_AREA_FDES] = len / 3;
	s->elf = elf;
	s->eh_frame = section(elf, &elf->eh_frame, image->eh_frame);
	s->areas = &c->areas;
	s->intern = &c->intern;
	s->base = ~0ULL;
	for (i = 0; i < elf->nr_segments; i++)
		s->base = min_t(u64, s->base, elf->segments[i].vaddr);
	/* Aligned, so that an offset is as aligned as its address. */
	s->base &= -(u64)KUW_FDE_ALIGN;
	kuw_scan_begin(s);
}

int kuw_compile_step(struct kuw_compile *c)
{
	int ret;

	if (c->phase == ARRAY_SIZE(phases))
		return 0;
	ret = phases[c->phase](c);
	if (!ret && ++c->phase < ARRAY_SIZE(phases))
		ret = KUW_AGAIN;
	return ret == -ENOSPC ? KUW_GROW : ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A compilation: its phases, one after the other, and what goes from one to the next. */
#include "compile.h"

/* Its rows take as much room as those of an .eh_frame of this part of .gopclntab's bytes. */
#define GO_PART	8

/* Bytes of an .eh_frame with as many rows. */
static u32 rows_of(const struct kuw_compile *c)
{
	return c->scan.eh_frame.len + c->gopclntab.len / GO_PART;
}

/* All that goes from one phase to another is set here. */
static void wire(struct kuw_compile *c)
{
	c->scan.areas = &c->areas;
	c->scan.intern = &c->intern;
	c->intern.areas = &c->areas;
	c->gopclntab.scan = &c->scan;
	c->rank.scan = &c->scan;
	c->rank.sort = &c->sort;
	c->place.scan = &c->scan;
	c->place.rank = &c->rank;
	c->encode.scan = &c->scan;
	c->encode.rank = &c->rank;
	c->encode.place = &c->place;
}

void kuw_compile_init(struct kuw_compile *c, const struct kuw_elf *elf, const u8 *eh_frame,
		      const u8 *gopclntab)
{
	struct kuw_scan *s = &c->scan;
	u32 i;

	memset(c, 0, sizeof(*c));
	wire(c);
	s->elf = elf;
	s->eh_frame = (struct kuw_section){
		.bytes = eh_frame, .len = eh_frame ? elf->eh_frame.len : 0,
		.word = elf->word, .vaddr = elf->eh_frame.vaddr,
	};
	s->base = ~0ULL;
	for (i = 0; i < elf->nr_segments; i++)
		s->base = min_t(u64, s->base, elf->segments[i].vaddr);
	/* Aligned, so that an offset is as aligned as its address. */
	s->base &= -(u64)KUW_FDE_ALIGN;
	c->intern.word = elf->word;
	if (gopclntab && elf->word == KUW_WORD) {
		c->gopclntab.bytes = gopclntab;
		c->gopclntab.len = elf->gopclntab.len;
	}
}

static int sort(struct kuw_compile *c)
{
	if (!c->scan.nr_fdes)
		return -ENODATA;
	return kuw_sort(&c->sort, &c->areas, kuw_area(&c->areas, KUW_AREA_FDES), c->scan.nr_fdes);
}

/* Go's functions come after FDEs, which are right where both start at one address. */
int kuw_compile(struct kuw_compile *c)
{
	/* What an ordinary file needs: large areas need not be copied. */
	return kuw_area_room(&c->areas, KUW_AREA_FOUND, rows_of(c)) ?:
	       kuw_area_room(&c->areas, KUW_AREA_FDES, rows_of(c) / 3) ?:
	       kuw_intern_init(&c->intern, rows_of(c)) ?: kuw_scan(&c->scan) ?:
	       kuw_gopclntab(&c->gopclntab) ?: sort(c) ?: kuw_rank(&c->rank) ?:
	       kuw_place(&c->place) ?: kuw_encode(&c->encode);
}

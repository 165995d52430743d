/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * From .eh_frame to a table: every FDE is found, sorted by address, its CFA
 * program run once (DWARF 5 6.4, LSB Core 10.6), its rows collected, its rules
 * interned and ranked by frequency, and all of it encoded as table.h says.
 *
 * The compiler allocates nothing. It works in areas that its caller provides
 * and asks for a larger one when it needs it:
 *
 *	kuw_compile_init(&c, &image);
 *	while ((ret = kuw_compile_step(&c)) > 0)
 *		if (ret == KUW_GROW)
 *			grow c.areas[c.grow] to >= c.grow_bytes, contents kept
 *		else
 *			a good place to reschedule, or to give up
 *	if (!ret)
 *		c.areas[KUW_AREA_TABLE].mem is the table, of c.table_bytes
 *
 * A damaged record costs that record; what is behind a damaged length is lost.
 * Both are counted in the table.
 */
#ifndef KUW_COMPILE_H
#define KUW_COMPILE_H

#include "kunwind_port.h"
#include "elf.h"

/* What kuw_compile_step() returns beside 0 (done) and a negative errno. */
#define KUW_AGAIN	1
#define KUW_GROW	2

/* The areas; every one must be aligned to 8 bytes. */
enum kuw_area_id {
	KUW_AREA_FDES,
	KUW_AREA_ROWS,
	KUW_AREA_RULES,
	KUW_AREA_HASH,
	KUW_AREA_EXTS,
	KUW_AREA_STATES,
	KUW_AREA_TABLE,
	KUW_NR_AREAS
};

struct kuw_area {
	void *mem;
	u64 bytes;
};

/**
 * struct kuw_image - the bytes that a table is compiled from
 * @elf: what kuw_elf_feed() found
 * @eh_frame: elf->eh_frame.len bytes
 * @eh_frame_hdr: elf->eh_frame_hdr.len bytes, or NULL
 */
struct kuw_image {
	const struct kuw_elf *elf;
	const u8 *eh_frame;
	const u8 *eh_frame_hdr;
};

struct kuw_compile;
void kuw_compile_init(struct kuw_compile *c, const struct kuw_image *image);
int kuw_compile_step(struct kuw_compile *c);

#endif /* KUW_COMPILE_H */

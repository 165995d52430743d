/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The compiler makes a table from .eh_frame, and from .gopclntab. It finds every FDE and runs its
 * CFA program once (DWARF 5 6.4, LSB Core 10.6). It sorts FDEs by address, ranks rules by
 * frequency, and finds pairs of rows that occur often. It puts all rows in order, and encodes them
 * as table.h says. Each phase has a struct, which says what goes in and what comes out.
 *
 *	kuw_compile_init(&c, &elf, eh_frame, gopclntab);
 *	c.areas.grow = ...;
 *	c.areas.pause = ...;
 *	ret = kuw_compile(&c);
 *	if (!ret)
 *		c.areas.area[KUW_AREA_TABLE] is the table
 *
 * Padding between two FDEs has the rule of the row before it: fewer than KUW_LEAST_CODE
 * bytes before aligned code, unless that rule ends stacks. All other gaps have no rule.
 *
 * A damaged record is left out. After a damaged length, all later ones are lost. The table counts
 * damaged records. The binary search table of .eh_frame_hdr names the FDEs, too, but none of
 * 10,000 files needs it to find them all.
 */
#ifndef KUW_COMPILE_H
#define KUW_COMPILE_H

#include "encode.h"
#include "gopclntab.h"

struct kuw_compile {
	struct kuw_areas areas;
	/* In the order in which they are used. */
	struct kuw_intern intern;
	struct kuw_scan scan;
	struct kuw_gopclntab gopclntab;
	struct kuw_sort sort;
	struct kuw_rank rank;
	struct kuw_place place;
	struct kuw_encode encode;
};

/* @eh_frame, @gopclntab: the bytes of these sections of the file, or NULL. */
void kuw_compile_init(struct kuw_compile *c, const struct kuw_elf *elf, const u8 *eh_frame,
		      const u8 *gopclntab);

/*
 * Return: 0; -ENODATA if there is no usable FDE; -E2BIG if a limit of budgets.h is exceeded; an
 * error of the caller's functions in @c->areas.
 */
int kuw_compile(struct kuw_compile *c);

#endif /* KUW_COMPILE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The fourth phase: put rows in the order of their addresses, and make pairs of them. */
#ifndef KUW_PLACE_H
#define KUW_PLACE_H

#include "rank.h"

/* KUW_AREA_ENTRIES has entries by address. */
struct kuw_entry {
	u32 off;
	u32 code;
};

/* Return: how many bytes a code has. */
static inline u32 kuw_code_places(u32 code)
{
	return 1 + (code > U8_MAX) + (code > U16_MAX);
}

struct kuw_place {
	const struct kuw_scan *scan;	/* in: FDEs by address, and room for one more; rows */
	const struct kuw_rank *rank;	/* in: the pairs */
	u32 nr_rows;			/* out */
	u32 nr_entries;			/* out */
	u32 nr_places;			/* out: how many places the entries take */
	u32 end;			/* out: where the last row ends */
	/* private: */
	u32 last_rule;
};

/* Return: 0, or an error of the caller's functions. */
int kuw_place(struct kuw_place *p);

#endif /* KUW_PLACE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The fourth phase: put rows in the order of their addresses, as entries of the table. */
#ifndef KUW_PLACE_H
#define KUW_PLACE_H

#include "rank.h"

struct kuw_place {
	const struct kuw_scan *scan;	/* in: FDEs by address, and room for one more; rows */
	const struct kuw_rank *rank;	/* in: the pairs */
	u32 nr_rows;			/* out */
	u32 nr_cells;			/* out: in KUW_AREA_CELLS */
	/* Out: how many words are in KUW_AREA_INDEX: one for each bucket, and one for the end. */
	u32 nr_index;
	u32 end;			/* out: where the last row ends */
	/* private: */
	u32 last_rule;
	u32 last_code;			/* of the last entry */
};

/* Return: 0, or an error of the caller's functions. */
int kuw_place(struct kuw_place *p);

#endif /* KUW_PLACE_H */

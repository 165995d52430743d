/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The third phase: put rows in the order of their addresses, and find what may be a run. */
#ifndef KUW_PLACE_H
#define KUW_PLACE_H

#include "runs.h"

/*
 * KUW_AREA_ROWS has rows by address. A word is one row: its offset and the number of its
 * rule. Or it is several rows that may be a run: the offset of the first, and the number
 * of their node, counted from where the numbers of rules end.
 */
static inline u64 kuw_row(u32 off, u32 what)
{
	return off | (u64)what << 32;
}

static inline u32 kuw_row_off(u64 row)
{
	return row;
}

static inline u32 kuw_row_what(u64 row)
{
	return row >> 32;
}

/**
 * struct kuw_place - the rows of a file, by address
 * @areas: in: room for KUW_AREA_ROWS
 * @fdes: in: the FDEs, sorted, with room for one more
 * @nr_fdes: in: how many
 * @found: in: their rows
 * @intern: in: the rules of the rows; out: how often each is alone
 * @runs: out: the tree of sequences that may be runs
 * @nr_rows: out: how many words KUW_AREA_ROWS has
 * @nr_chunks: out: blocks in which rows start
 * @end: out: where the last row ends
 */
struct kuw_place {
	struct kuw_areas *areas;
	struct kuw_pair *fdes;
	u32 nr_fdes;
	const struct kuw_found *found;
	const struct kuw_intern *intern;
	struct kuw_runs *runs;
	u32 nr_rows;
	u32 nr_chunks;
	u32 end;
	/* private */
	u32 pos;
	u32 last_rule;
	u32 last_off;
};

/* Make room for the first rows, and for the tree. Return: 0, -ENOSPC. */
int kuw_place_init(struct kuw_place *p);

/* Put the rows of a batch of FDEs. Return: 0, KUW_AGAIN, -ENOSPC. */
int kuw_place_rows(struct kuw_place *p);

#endif /* KUW_PLACE_H */

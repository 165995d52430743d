/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The fourth phase: number rules and runs by use, which makes their codes. */
#ifndef KUW_RANK_H
#define KUW_RANK_H

#include "runs.h"

/**
 * struct kuw_rank - the numbers of rules, and what they take in the table
 * @areas: in: room for KUW_AREA_ORDER and KUW_AREA_CODES
 * @intern: in: the rules, with what kuw_place_rows() counted; out: their ranks
 * @runs: in: the tree; out: the runs
 * @sort: in: lends its counts
 * @nr_ranked: out: how many rules have a number, with rule 0
 * @nr_saves: out: how many struct kuw_saves the rules need
 * @nr_locs: out: how many struct kuw_loc the rules in full need
 * @nr_entries: out: how many places all entries take
 */
struct kuw_rank {
	struct kuw_areas *areas;
	const struct kuw_intern *intern;
	struct kuw_runs *runs;
	struct kuw_sort *sort;
	u32 nr_ranked;
	u32 nr_saves;
	u32 nr_locs;
	u32 nr_entries;
};

/* Choose the runs, and number runs and rules. Return: 0, -ENOSPC. */
int kuw_rank(struct kuw_rank *r);

/* Write the rules into the table, whose offsets are set. */
void kuw_rank_write(const struct kuw_rank *r, struct kuw_table *table);

/*
 * A code has its number of bytes in the highest byte, so that no branch is needed to put it.
 * It is 0 for several rows that are not one run.
 */
static inline u32 kuw_code_places(u32 code)
{
	return code >> 24;
}

/* Return: the codes of all rules, and after them those of all nodes. */
static inline const u32 *kuw_rank_codes(const struct kuw_rank *r)
{
	return kuw_area(r->areas, KUW_AREA_CODES);
}

/* Return: the code of a run. */
u32 kuw_rank_run_code(const struct kuw_rank *r, u32 run);

#endif /* KUW_RANK_H */

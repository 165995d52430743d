/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The third phase: number rules by use, which makes their codes, and choose pairs. */
#ifndef KUW_RANK_H
#define KUW_RANK_H

#include "pairs.h"

/**
 * struct kuw_rank - the numbers of rules, and what they take in the table
 * @scan: in: the rules; room for KUW_AREA_ORDER and KUW_AREA_CODES
 * @pairs: out: the pairs
 * @sort: in: lends its counts
 * @nr_saves: out: how many struct kuw_saves the rules need
 * @nr_locs: out: how many struct kuw_loc the rules in full need
 */
struct kuw_rank {
	const struct kuw_scan *scan;
	struct kuw_pairs *pairs;
	struct kuw_sort *sort;
	u32 nr_saves;
	u32 nr_locs;
};

/* Number the rules, and choose the pairs. Return: 0, -ENOSPC. */
int kuw_rank(struct kuw_rank *r);

/* Write the rules into the table, whose offsets are set. */
void kuw_rank_write(const struct kuw_rank *r, struct kuw_table *table);

#endif /* KUW_RANK_H */

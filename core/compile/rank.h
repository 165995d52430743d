/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The third phase: number rules by use, which makes their codes, and choose pairs. */
#ifndef KUW_RANK_H
#define KUW_RANK_H

#include "pairs.h"

struct kuw_rank {
	const struct kuw_scan *scan;	/* in: the rules */
	struct kuw_pairs *pairs;	/* out */
	struct kuw_sort *sort;		/* in: lends its counts */
	u32 nr_saves;			/* out: how many struct kuw_saves the rules need */
	u32 nr_locs;			/* out: how many struct kuw_loc the rules in full need */
};

/*
 * Number the rules, and choose the pairs. Sets in each rule its code and what the table has of it,
 * in each set its saves, and in KUW_AREA_ORDER the order of the rules. Return: 0, or an error
 * of the caller's functions.
 */
int kuw_rank(struct kuw_rank *r);

/* Write the rules into the table, whose offsets are set. */
void kuw_rank_write(const struct kuw_rank *r, struct kuw_table *table);

#endif /* KUW_RANK_H */

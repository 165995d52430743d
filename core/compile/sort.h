/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Sorting: pairs at once, and the FDEs of a file in batches. */
#ifndef KUW_SORT_H
#define KUW_SORT_H

#include "kunwind_port.h"

/* What radix sort moves. */
struct kuw_pair {
	u32 key;
	u32 value;
};

#define KUW_RADIX_BITS	11

/**
 * struct kuw_sort - a sort
 * @pairs: FDEs by the offset where they start, with as much room again after them
 * @n: how many
 */
struct kuw_sort {
	struct kuw_pair *pairs;
	u32 n;
	/* private */
	u32 step;
	u32 pos;
	u32 nr_stay;
	u32 highest;
	u32 nr_away;
	u32 away_keys;
	u32 shift;
	u32 histogram[1u << KUW_RADIX_BITS];
};

/* Start to sort FDEs, of which there is at least one. */
void kuw_sort_begin(struct kuw_sort *s, struct kuw_pair *pairs, u32 n);

/* Sort a batch. Return: KUW_AGAIN; 0 when all are sorted, at their place. */
int kuw_sort_fdes(struct kuw_sort *s);

/*
 * Sort @n pairs by key, at once, with room for @n more after them. @s lends its counts.
 * Return: the sorted pairs: @pairs, or @pairs + @n.
 */
struct kuw_pair *kuw_sort_pairs(struct kuw_sort *s, struct kuw_pair *pairs, u32 n);

#endif /* KUW_SORT_H */

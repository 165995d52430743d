/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The third phase: number rules by use, which makes their codes, and choose pairs: sequences of
 * rows that a file has in many places. table.h says how they are stored.
 */
#ifndef KUW_RANK_H
#define KUW_RANK_H

#include "scan.h"
#include "table.h"

/*
 * The most bytes of a row of a pair. Longer ones, which are bodies of functions, stay entries:
 * walks look up mostly these.
 */
#define KUW_PAIR_NEAR	15

/* Slots of the hash of pairs. Most stay empty, so a search ends soon. */
#define KUW_PAIR_SLOTS	2048

/*
 * A sequence of rows. @key has the sequence without its last row (the number of a rule, or
 * KUW_MAX_RULES + 1 and the number of a sequence); the last row's rule; its distance from the
 * first row.
 */
struct kuw_sequence {
	u64 key;
	u32 uses;	/* how often the sample has it */
	u32 code;	/* its code if it is a pair, else 0 */
};

struct kuw_rank {
	const struct kuw_scan *scan;	/* in: FDEs by address, their rows, the rules */
	struct kuw_sort *sort;		/* in: lends its counts */
	u32 nr_saves;			/* out: how many struct kuw_saves the rules need */
	u32 nr_full;			/* out: how many rules need a struct kuw_rules */
	u32 nr_pairs;			/* out */
	u32 pair[KUW_MAX_PAIRS];	/* out: as in struct kuw_table */
	/* private: */
	u32 nr_sequences;
	u32 mask;
	u8 slots[KUW_PAIR_SLOTS];
};

/*
 * Number the rules, and choose the pairs. Sets in each rule its code and what the table has of it,
 * in each set its saves, and in KUW_AREA_ORDER the order of the rules. Return: 0, or an error
 * of the caller's functions.
 */
int kuw_rank(struct kuw_rank *r);

/* Write the rules into the table, whose offsets are set. Return: 0, -EINTR, -ETIME. */
int kuw_rank_write(const struct kuw_rank *r, struct kuw_table *table);

/* The parts of kuw_rank() that choose pairs, in pairs.c. */

/*
 * Count the rules, and the sequences of rows that are close together, in a sample. Return: 0,
 * -ENOMEM.
 */
int kuw_pairs_count(struct kuw_rank *p);

/*
 * Choose pairs, when rules have codes. @items are for sorting sequences. Return: 0, -EINTR, -ETIME.
 */
int kuw_pairs_choose(struct kuw_rank *p, struct kuw_item *items);

/* The place in @slots where a search for a pair starts. */
static inline u32 kuw_pair_slot(u32 pair)
{
	return pair * 0x9e3779b1u / (~0u / KUW_PAIR_SLOTS + 1);
}

/* Return: the code of a pair, or 0 if it was not chosen. */
static inline u32 kuw_pairs_find(const struct kuw_rank *p, u32 pair)
{
	u32 at = kuw_pair_slot(pair);

	for (; p->slots[at]; at = (at + 1) % KUW_PAIR_SLOTS)
		if (p->pair[p->slots[at] - 1] == pair)
			return KUW_CODE_PAIR + p->slots[at] - 1;
	return 0;
}

#endif /* KUW_RANK_H */

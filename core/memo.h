/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What walks found lately: the frequent rules by address. A look into a table is
 * a chain of four dependent loads, one into the memo is one; both are exact.
 *
 * A memo serves one walk at a time: its owner has one for each CPU and level of
 * nesting. Entries are of one address map only. Another map makes them old by
 * a new epoch, and a map that is replaced has a new number.
 */
#ifndef KUW_MEMO_H
#define KUW_MEMO_H

#include "map.h"
#include "table.h"

#define KUW_MEMO_BITS	9

/* @epoch: 0 in no valid entry. */
struct kuw_memo_entry {
	u64 pc;
	u32 epoch;
	struct kuw_rule rule;
};

/**
 * struct kuw_memo - a memo; valid when all zero
 * @map: kuw_map.number of the map that it is for
 * @epoch: of the entries that are
 */
struct kuw_memo {
	u64 map;
	u32 epoch;
	u32 reserved;
	struct kuw_memo_entry entries[1u << KUW_MEMO_BITS];
};

/* From now on the entries are of @map. */
static inline void kuw_memo_use(struct kuw_memo *memo,
				 const struct kuw_map *map)
{
	if (likely(memo->map == map->number))
		return;
	memo->map = map->number;
	/* After 2^32 other maps, old entries would look valid. */
	if (unlikely(!++memo->epoch)) {
		memset(memo->entries, 0, sizeof(memo->entries));
		memo->epoch = 1;
	}
}

/* Functions are tens of bytes apart, so the low bits tell most. */
static __always_inline struct kuw_memo_entry *
kuw_memo_slot(struct kuw_memo *memo, u64 pc)
{
	return &memo->entries[(pc ^ pc >> KUW_MEMO_BITS) &
			       ((1u << KUW_MEMO_BITS) - 1)];
}

#endif /* KUW_MEMO_H */

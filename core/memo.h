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

/**
 * struct kuw_memo_entry - a rule, decoded
 * @pc: of which address
 * @cfa: bytes from the register to the CFA
 * @rbp: bytes from the CFA to the saved rbp, 0 if rbp is unchanged
 * @tag: the epoch, plus 1 if the register is rbp; see kuw_memo_use()
 */
struct kuw_memo_entry {
	u64 pc;
	s32 cfa;
	s16 rbp;
	u16 tag;
};

/**
 * struct kuw_memo - a memo; valid when all zero
 * @map: kuw_map.number of the map that it is for
 * @epoch: of the entries that are; even, and never 0 after the first use
 * @reserved: 0
 * @entries: by kuw_memo_slot()
 */
struct kuw_memo {
	u64 map;
	u16 epoch;
	u16 reserved[3];
	struct kuw_memo_entry entries[1u << KUW_MEMO_BITS];
};

/* From now on the entries are of @map. Return: the epoch. */
static inline u16 kuw_memo_use(struct kuw_memo *memo, const struct kuw_map *map)
{
	if (unlikely(memo->map != map->number)) {
		memo->map = map->number;
		memo->epoch += 2;
		/* After 2^15 other maps, old entries would look valid. */
		if (unlikely(!memo->epoch)) {
			memset(memo->entries, 0, sizeof(memo->entries));
			memo->epoch = 2;
		}
	}
	return memo->epoch;
}

/*
 * Functions are tens of bytes apart, so the low bits tell most. The byte offset is
 * computed at once: this is on the path from one return address to the next.
 */
static __always_inline struct kuw_memo_entry *
kuw_memo_slot(struct kuw_memo *memo, u64 pc)
{
	const u64 size = sizeof(struct kuw_memo_entry);
	u64 mask = ((1u << KUW_MEMO_BITS) - 1) * size;

	return (void *)((u8 *)memo->entries +
			((pc * size ^ pc * size >> KUW_MEMO_BITS) & mask));
}

#endif /* KUW_MEMO_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A cache of rules that walks have looked up. A look-up in a table is a chain of dependent
 * loads, which a hit avoids.
 *
 * The place of an entry follows from the frame's stack pointer, as the next stack has most
 * of its frames where this one has them. The stack pointer is known before the return
 * address, so the processor loads entries ahead, as it does in a walk by frame pointer.
 * What an entry says does not depend on its place: it has the address of its rule.
 *
 * A cache serves one walk at a time: its owner has one for each CPU and level of nesting.
 * An entry holds only in the epoch that it was made in. Each address map has an epoch of its
 * own, and a map that replaces another one has a new number. The cache remembers the epochs of
 * some maps: where processes take turns on a CPU, each finds its entries again.
 */
#ifndef KUW_RULE_CACHE_H
#define KUW_RULE_CACHE_H

#include "table.h"

/*
 * Every 16 bytes of stack, the alignment of frames (psABI x86-64 3.2.2), have a place of
 * their own, and every 32 KiB the same ones.
 */
#define KUW_CACHE_ENTRIES	2048

/* A rule that the walk can apply at an address. */
struct kuw_cache_entry {
	u64 pc;			/* where the rule was looked up */
	struct kuw_rule rule;	/* plain, or of KUW_KIND_END */
	u32 epoch;		/* its map's; never 0 */
};

#define KUW_CACHE_BYTES		(KUW_CACHE_ENTRIES * sizeof(struct kuw_cache_entry))

/* Two maps whose numbers have the same remainder begin a new epoch each time they take turns. */
#define KUW_CACHE_MAPS		16

struct kuw_cache_map {
	u64 number;	/* kuw_map.number; 0: none */
	u32 epoch;
};

/*
 * The head of a cache, apart from its entries. The owner sets @entries; all other fields, and the
 * entries, start as zero.
 */
struct kuw_rule_cache {
	struct kuw_cache_entry *entries;	/* KUW_CACHE_BYTES, aligned as by kmalloc() */
	u32 epochs;				/* how many have begun */
	struct kuw_cache_map maps[KUW_CACHE_MAPS];
};

/* Return: the place for a frame whose stack pointer is @sp. */
static __always_inline struct kuw_cache_entry *
kuw_cache_at(struct kuw_cache_entry *entries, u64 sp)
{
	return &entries[sp / sizeof(*entries) % KUW_CACHE_ENTRIES];
}

#endif /* KUW_RULE_CACHE_H */

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
 * An entry holds only in the epoch that it was made in. A walk with another address map
 * begins a new epoch, and a map that replaces another one has a new number.
 */
#ifndef KUW_RULE_CACHE_H
#define KUW_RULE_CACHE_H

#include "map.h"
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
	u32 epoch;		/* the cache's when this was written */
};

#define KUW_CACHE_BYTES		(KUW_CACHE_ENTRIES * sizeof(struct kuw_cache_entry))

/*
 * The head of a cache, apart from its entries. The owner sets @entries; all other fields, and the
 * entries, start as zero.
 */
struct kuw_rule_cache {
	u64 map;				/* kuw_map.number of the map of this epoch */
	struct kuw_cache_entry *entries;	/* KUW_CACHE_BYTES, aligned as by kmalloc() */
	u32 epoch;				/* never 0 while a walk uses the cache */
};

/* Before a walk: begin a new epoch if the walk's map is another one. */
static inline void kuw_cache_use(struct kuw_rule_cache *cache, const struct kuw_map *map)
{
	if (cache->map == map->number)
		return;
	cache->map = map->number;
	if (++cache->epoch)
		return;
	/* All numbers were used: leave no entry of an earlier epoch that had one of them. */
	memset(cache->entries, 0, KUW_CACHE_BYTES);
	cache->epoch = 1;
}

/* Return: the place for a frame whose stack pointer is @sp. */
static __always_inline struct kuw_cache_entry *
kuw_cache_at(struct kuw_cache_entry *entries, u64 sp)
{
	return &entries[sp / sizeof(*entries) % KUW_CACHE_ENTRIES];
}

#endif /* KUW_RULE_CACHE_H */

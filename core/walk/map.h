/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The address map of one address space: which table serves which addresses. Immutable once
 * published. The publisher owns the map, and keeps the tables alive as long as the map.
 */
#ifndef KUW_MAP_H
#define KUW_MAP_H

#include "kunwind_port.h"

struct kuw_table;

/* What an executable mapping has. */
enum kuw_mapping_kind {
	KUW_MAPPING_TABLE,	/* a file (or the vDSO) with a table */
	KUW_MAPPING_NO_TABLE,	/* a file without usable unwind information */
	KUW_MAPPING_URETPROBE,	/* the kernel's page of uprobes: see KUW_TRAMPOLINE_BYTES */
};

/* One executable mapping. */
struct kuw_mapping {
	u64 start;
	u64 end;			/* the first address after it */
	u64 bias;			/* address in memory minus the file's, modulo 2^64 */
	const struct kuw_table *table;	/* if @kind is KUW_MAPPING_TABLE */
	u32 kind;			/* enum kuw_mapping_kind */
};

/* All executable mappings of an address space. */
struct kuw_map {
	u64 number;		/* not 0, and unique among all maps of walks with the same cache */
	u32 count;
	/*
	 * Some mappings are missing: there was no memory or time for them, there are too many, or
	 * the module would have had to wait for them.
	 */
	bool incomplete;
	struct kuw_mapping mappings[];	/* sorted by address, disjoint */
};

/* Return: the index of the first mapping that ends after @addr; their number if none does. */
u32 kuw_map_behind(const struct kuw_map *map, u64 addr);

/* Return: the mapping that holds @addr, or NULL. */
const struct kuw_mapping *kuw_map_find(const struct kuw_map *map, u64 addr);

#endif /* KUW_MAP_H */

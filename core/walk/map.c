// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The lookup in an address map. */
#include "map.h"

u32 kuw_map_behind(const struct kuw_map *map, u64 addr)
{
	u32 lo = 0, hi = map->count, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (addr < map->mappings[mid].end)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

const struct kuw_mapping *kuw_map_find(const struct kuw_map *map, u64 addr)
{
	u32 i = kuw_map_behind(map, addr);

	if (i == map->count || addr < map->mappings[i].start)
		return NULL;
	/* That it is one of them may have been mispredicted. */
	return &map->mappings[kuw_port_index(i, map->count)];
}

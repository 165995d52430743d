// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The lookup in an address map. */
#include "map.h"

const struct kuw_mapping *kuw_map_find(const struct kuw_map *map, u64 addr)
{
	u32 lo = 0, hi = map->count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (addr < map->mappings[mid].start)
			hi = mid;
		else if (addr >= map->mappings[mid].end)
			lo = mid + 1;
		else
			/* The last comparison of @lo and @hi may have been mispredicted. */
			return &map->mappings[kuw_port_index(mid, map->count)];
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How an epoch begins. */
#include "rule_cache.h"

u32 kuw_cache_begin(struct kuw_rule_cache *cache, struct kuw_cache_map *m, u64 number)
{
	if (!++cache->epochs) {
		/* All numbers were used: forget every entry and map that had one of them. */
		memset(cache->entries, 0, KUW_CACHE_BYTES);
		memset(cache->maps, 0, sizeof(cache->maps));
		cache->epochs = 1;
	}
	*m = (struct kuw_cache_map){ number, cache->epochs };
	return cache->epochs;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How large areas become. */
#include "area.h"

/* So that small files do not grow their areas step by step. */
#define LEAST	1024

/* Areas grow by doubling, except the table (encode.c), which is as large as it must be. */
int kuw_area_grow(struct kuw_areas *a, u32 id, u64 bytes)
{
	bytes = max_t(u64, bytes, a->least[id]);
	bytes = max_t(u64, bytes, 2 * a->area[id].bytes);
	return a->grow(a, id, max_t(u64, bytes, LEAST));
}

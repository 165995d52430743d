// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How much of an area the compiler asks for. */
#include "area.h"

bool kuw_area_grow(struct kuw_areas *a, u32 id, u64 bytes)
{
	bytes = max_t(u64, bytes, a->least[id]);
	bytes = max_t(u64, bytes, 2 * a->area[id].bytes);
	a->grow = id;
	a->grow_bytes = max_t(u64, bytes, 1024);
	return false;
}

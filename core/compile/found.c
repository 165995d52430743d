// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Room for more rows. */
#include "found.h"

int kuw_found_grow(struct kuw_found *f)
{
	if (f->nr + KUW_FOUND_ROOM > KUW_MAX_ROWS)
		return -E2BIG;
	kuw_area_grow(f->areas, KUW_AREA_FOUND, (f->nr + (u64)KUW_FOUND_ROOM) * sizeof(u32));
	return -ENOSPC;
}

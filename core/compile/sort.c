// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant byte first: linear, stable, and as fast for a hostile order
 * as for any other. A file may have millions of FDEs.
 */
#include "sort.h"

#define PAUSE_EVERY	64	/* items */

/* Sort items by a byte of their keys. */
static int sort_by(struct kuw_sort *s, struct kuw_areas *a, u32 byte, const struct kuw_item *from,
		   struct kuw_item *to, u32 n)
{
	u32 i, end, before, here;
	int ret = 0;

	memset(s->place, 0, sizeof(s->place));
	for (i = 0; !ret && i < n; ret = kuw_pause_after(a, PAUSE_EVERY))
		for (end = min_t(u32, n, i + PAUSE_EVERY); i < end; i++)
			s->place[(u8)(from[i].key >> 8 * byte)]++;
	/* Turn the counts into the place of the first item of each value. */
	for (i = 0, before = 0; i <= U8_MAX; i++) {
		here = s->place[i];
		s->place[i] = before;
		before += here;
	}
	for (i = 0; !ret && i < n; ret = kuw_pause_after(a, PAUSE_EVERY))
		for (end = min_t(u32, n, i + PAUSE_EVERY); i < end; i++)
			to[s->place[(u8)(from[i].key >> 8 * byte)]++] = from[i];
	return ret;
}

int kuw_sort(struct kuw_sort *s, struct kuw_areas *a, struct kuw_item *items, u32 n)
{
	struct kuw_item *room = items + n;
	int ret = 0;
	u32 byte;

	/* There and back. */
	for (byte = 0; !ret && byte < KUW_SORT_BYTES; byte += 2)
		ret = sort_by(s, a, byte, items, room, n) ?:
		      sort_by(s, a, byte + 1, room, items, n);
	return ret;
}

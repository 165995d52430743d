// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant byte first: linear, stable, and as fast for a hostile order
 * as for any other. A file may have millions of FDEs.
 */
#include "sort.h"

static int count(struct kuw_sort *s, struct kuw_areas *a, const struct kuw_item *items, u32 n)
{
	int ret = 0;
	u32 i, byte;

	memset(s->place, 0, sizeof(s->place));
	for (i = 0; !ret && i < n; i++) {
		for (byte = 0; byte < KUW_SORT_BYTES; byte++)
			s->place[byte][(u8)(items[i].key >> 8 * byte)]++;
		ret = kuw_pause_after(a, 1);
	}
	return ret;
}

/* Turn the counts into the place of the first item of each value. */
static void sum(struct kuw_sort *s)
{
	u32 byte, value, before, here;

	for (byte = 0; byte < KUW_SORT_BYTES; byte++)
		for (value = 0, before = 0; value <= U8_MAX; value++) {
			here = s->place[byte][value];
			s->place[byte][value] = before;
			before += here;
		}
}

/* Sort items by a byte of their keys. */
static int move(struct kuw_sort *s, struct kuw_areas *a, u32 byte, const struct kuw_item *from,
		struct kuw_item *to, u32 n)
{
	u32 i, *place = s->place[byte];
	int ret = 0;

	for (i = 0; !ret && i < n; i++) {
		to[place[(u8)(from[i].key >> 8 * byte)]++] = from[i];
		ret = kuw_pause_after(a, 1);
	}
	return ret;
}

int kuw_sort(struct kuw_sort *s, struct kuw_areas *a, struct kuw_item *items, u32 n)
{
	struct kuw_item *room = items + n;
	int ret = count(s, a, items, n);
	u32 byte;

	sum(s);
	/* There and back. */
	for (byte = 0; !ret && byte < KUW_SORT_BYTES; byte += 2)
		ret = move(s, a, byte, items, room, n) ?: move(s, a, byte + 1, room, items, n);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant byte first: linear, stable, and as fast for a hostile order
 * as for any other. A file may have millions of FDEs, so they are sorted in batches.
 */
#include "sort.h"
#include "area.h"
#include "budgets.h"

static void count(struct kuw_sort *s, const struct kuw_item *items, u32 end)
{
	u32 i, byte;

	for (i = s->pos; i < end; i++)
		for (byte = 0; byte < KUW_SORT_BYTES; byte++)
			s->place[byte][(u8)(items[i].key >> 8 * byte)]++;
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

static void move(struct kuw_sort *s, u32 byte, const struct kuw_item *from, struct kuw_item *to,
		 u32 end)
{
	u32 i, *place = s->place[byte];

	for (i = s->pos; i < end; i++)
		to[place[(u8)(from[i].key >> 8 * byte)]++] = from[i];
}

/* The first pass counts. The others move items by a byte of their keys, there and back. */
int kuw_sort_step(struct kuw_sort *s, struct kuw_item *items, u32 n)
{
	u32 end = s->pos + min_t(u32, n - s->pos, KUW_BATCH_ITEMS);

	if (!s->pass && !s->pos)
		memset(s->place, 0, sizeof(s->place));
	if (!s->pass)
		count(s, items, end);
	else if (s->pass & 1)
		move(s, s->pass - 1, items, items + n, end);
	else
		move(s, s->pass - 1, items + n, items, end);
	s->pos = end;
	if (end < n)
		return KUW_AGAIN;
	if (!s->pass)
		sum(s);
	s->pos = 0;
	s->pass = (s->pass + 1) % (KUW_SORT_BYTES + 1);
	return s->pass ? KUW_AGAIN : 0;
}

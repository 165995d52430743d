// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant byte first: linear, stable, and as fast for a hostile order
 * as for any other. A file may have millions of FDEs, so they are sorted in batches. Nearly
 * all files have them in order.
 */
#include "sort.h"
#include "area.h"
#include "budgets.h"

/* What the first two passes do. Each of the others moves items by a byte of their keys. */
enum pass {
	LOOK,	/* whether the items are in order */
	COUNT,	/* how many have each value of each byte */
	MOVE,
	DONE = MOVE + KUW_SORT_BYTES,
};

static bool in_order(const struct kuw_sort *s, u32 end)
{
	u32 i;

	for (i = max_t(u32, s->pos, 1); i < end; i++)
		if (s->items[i].key < s->items[i - 1].key)
			return false;
	return true;
}

static void count(struct kuw_sort *s, u32 end)
{
	u32 i, byte;

	for (i = s->pos; i < end; i++)
		for (byte = 0; byte < KUW_SORT_BYTES; byte++)
			s->place[byte][(u8)(s->items[i].key >> 8 * byte)]++;
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

/* There and back: bytes are even in number, so the result is where the items were. */
static void move(struct kuw_sort *s, u32 byte, u32 end)
{
	const struct kuw_item *from = s->items + (byte & 1 ? s->n : 0);
	struct kuw_item *to = s->items + (byte & 1 ? 0 : s->n);
	u32 i, *place = s->place[byte];

	for (i = s->pos; i < end; i++)
		to[place[(u8)(from[i].key >> 8 * byte)]++] = from[i];
}

int kuw_sort_step(struct kuw_sort *s)
{
	u32 end = s->pos + min_t(u32, s->n - s->pos, KUW_BATCH_ITEMS);

	if (s->pass == LOOK) {
		if (in_order(s, end)) {
			s->pos = end;
			return end < s->n ? KUW_AGAIN : 0;
		}
		memset(s->place, 0, sizeof(s->place));
		end = s->n;
	} else if (s->pass == COUNT) {
		count(s, end);
		if (end == s->n)
			sum(s);
	} else {
		move(s, s->pass - MOVE, end);
	}
	s->pos = end;
	if (end == s->n) {
		s->pos = 0;
		s->pass++;
	}
	return s->pass < DONE ? KUW_AGAIN : 0;
}

void kuw_sort_begin(struct kuw_sort *s, struct kuw_item *items, u32 n)
{
	s->items = items;
	s->n = n;
	s->pass = LOOK;
	s->pos = 0;
}

void kuw_sort_all(struct kuw_sort *s, struct kuw_item *items, u32 n)
{
	kuw_sort_begin(s, items, n);
	while (kuw_sort_step(s))
		;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant digit first: linear, stable, and as fast for a hostile order
 * as for any other. A file may have millions of FDEs, so they are sorted in batches. Nearly
 * all files have them in order.
 */
#include "sort.h"
#include "area.h"
#include "budgets.h"

/* Up to this many items, smaller digits and more passes are faster. */
#define FEW	4096

/* What a batch does to its items. */
enum step {
	LOOK,	/* whether they are sorted, and which bits of their keys differ */
	COUNT,	/* how many have each value of the digit */
	MOVE,	/* to their place by the digit */
	BACK,	/* copy the result to where it belongs */
};

/* Bits of a digit, for @n items. */
static u32 bits_of(u32 n)
{
	return n <= FEW ? 8 : KUW_RADIX_BITS;
}

static void look(struct kuw_sort *s, u32 end)
{
	const struct kuw_item *item = s->items + s->pos, *last = s->items + end;

	for (; item < last; item++) {
		s->differ |= item->key ^ s->items->key;
		s->unsorted |= item > s->items && item->key < item[-1].key;
	}
}

/* Turn the counts into the place of the first item of each value. */
static void sum(struct kuw_sort *s)
{
	u32 i, before = 0, here;

	for (i = 0; i < 1u << bits_of(s->n); i++) {
		here = s->histogram[i];
		s->histogram[i] = before;
		before += here;
	}
}

/* Start with the next digit, if keys differ in it or a higher one. */
static enum step next_digit(struct kuw_sort *s)
{
	if (!((u64)s->differ >> s->shift))
		return BACK;
	memset(s->histogram, 0, sizeof(*s->histogram) << bits_of(s->n));
	return COUNT;
}

/* All items have had a step. Return: 0 if it was the last one, else KUW_AGAIN. */
static int next_step(struct kuw_sort *s)
{
	s->pos = 0;
	switch (s->step) {
	case LOOK:
		if (!s->unsorted)
			return 0;
		s->step = next_digit(s);
		return KUW_AGAIN;
	case COUNT:
		sum(s);
		s->step = MOVE;
		return KUW_AGAIN;
	case MOVE:
		s->odd = !s->odd;
		s->shift += bits_of(s->n);
		s->step = next_digit(s);
		return s->step == COUNT || s->odd ? KUW_AGAIN : 0;
	}
	return 0;
}

int kuw_sort_step(struct kuw_sort *s)
{
	const struct kuw_item *from = s->odd ? s->items + s->n : s->items;
	struct kuw_item *to = s->odd ? s->items : s->items + s->n;
	u32 end = s->pos + min_t(u32, s->n - s->pos, KUW_BATCH_ITEMS), i;
	u32 mask = (1u << bits_of(s->n)) - 1, *histogram = s->histogram;

	switch (s->step) {
	case LOOK:
		look(s, end);
		break;
	case COUNT:
		for (i = s->pos; i < end; i++)
			histogram[from[i].key >> s->shift & mask]++;
		break;
	case MOVE:
		for (i = s->pos; i < end; i++)
			to[histogram[from[i].key >> s->shift & mask]++] = from[i];
		break;
	case BACK:
		memcpy(to + s->pos, from + s->pos, (end - s->pos) * sizeof(*to));
		break;
	}
	s->pos = end;
	return end < s->n ? KUW_AGAIN : next_step(s);
}

void kuw_sort_begin(struct kuw_sort *s, struct kuw_item *items, u32 n)
{
	memset(s, 0, offsetof(struct kuw_sort, histogram));
	s->items = items;
	s->n = n;
}

void kuw_sort_all(struct kuw_sort *s, struct kuw_item *items, u32 n)
{
	kuw_sort_begin(s, items, n);
	while (kuw_sort_step(s))
		;
}

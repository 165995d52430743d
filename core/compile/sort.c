// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant digit first: linear, stable, and as fast for a hostile order
 * as for any other. A file may have millions of FDEs: these are sorted in batches. It has at
 * most 65,535 rules and nodes: these are sorted at once.
 */
#include "sort.h"
#include "area.h"
#include "limits.h"

/* Up to this many pairs, smaller digits and more passes are faster. */
#define FEW	4096
/* Sorted pairs that are skipped at once. */
#define STRIDE	16

/* Bits of a digit, for @n pairs. */
static u32 bits_of(u32 n)
{
	return n <= FEW ? 8 : KUW_RADIX_BITS;
}

/* Count how many of @n keys have each value of the digit at @shift. */
static void count(const struct kuw_pair *from, u32 n, u32 shift, u32 bits, u32 *histogram)
{
	u32 mask = (1u << bits) - 1, i;

	for (i = 0; i < n; i++)
		histogram[from[i].key >> shift & mask]++;
}

/* Turn the counts into the place of the first pair of each value. */
static void sum(u32 bits, u32 *histogram)
{
	u32 i, before = 0, here;

	for (i = 0; i < 1u << bits; i++) {
		here = histogram[i];
		histogram[i] = before;
		before += here;
	}
}

static void move(const struct kuw_pair *from, struct kuw_pair *to, u32 n, u32 shift,
		 u32 bits, u32 *histogram)
{
	u32 mask = (1u << bits) - 1, i;

	for (i = 0; i < n; i++)
		to[histogram[from[i].key >> shift & mask]++] = from[i];
}

static void clear(u32 bits, u32 *histogram)
{
	memset(histogram, 0, sizeof(*histogram) << bits);
}

struct kuw_pair *kuw_sort_pairs(struct kuw_sort *s, struct kuw_pair *pairs, u32 n)
{
	struct kuw_pair *from = pairs, *to = pairs + n;
	u32 shift, i, bits = bits_of(n);
	u64 differ = 0;

	for (i = 1; i < n; i++)
		differ |= pairs[i].key ^ pairs[0].key;
	/* Stop after the highest digit in which keys differ: counts are often small. */
	for (shift = 0; differ >> shift; shift += bits) {
		clear(bits, s->histogram);
		count(from, n, shift, bits, s->histogram);
		sum(bits, s->histogram);
		move(from, to, n, shift, bits, s->histogram);
		from = to;
		to = from == pairs ? pairs + n : pairs;
	}
	return from;
}

/* Return: the end of the batch that starts at s->pos, of @n pairs. */
static u32 batch_end(const struct kuw_sort *s, u32 n)
{
	return min_t(u32, n, s->pos + KUW_BATCH_PAIRS);
}

/*
 * Nearly all FDEs are in the order of their addresses; those of sections such as
 * .text.unlikely come in between. Move those that are out of order to the area's second half.
 * As many pairs are then free after those that stay.
 */
static int split(struct kuw_sort *s)
{
	struct kuw_pair *fdes = s->pairs, *from, *stay, *away;
	u32 last = s->highest;

	from = fdes + s->pos;
	stay = fdes + s->nr_stay;
	away = fdes + s->n + s->nr_away;
	s->pos = batch_end(s, s->n);
	for (; from < fdes + s->pos; from++) {
		if (from->key >= last) {
			last = from->key;
			*stay++ = *from;
		} else {
			s->away_keys |= from->key;
			*away++ = *from;
		}
	}
	s->highest = last;
	s->nr_stay = stay - fdes;
	s->nr_away = s->pos - s->nr_stay;
	return s->pos < s->n ? KUW_AGAIN : 0;
}

static int away(struct kuw_sort *s)
{
	struct kuw_pair *fdes = s->pairs, *away = fdes + s->n;
	struct kuw_pair *room = fdes + s->nr_stay, *from, *to;
	u32 n = s->nr_away, bits = bits_of(n), end;
	bool odd = s->shift / bits & 1;

	from = odd ? room : away;
	to = odd ? away : room;
	/* All digits are done: if the result is in the free pairs, copy it back. */
	if (!((u64)s->away_keys >> s->shift)) {
		if (!odd)
			return 0;
		end = batch_end(s, n);
		memcpy(to + s->pos, from + s->pos, (end - s->pos) * sizeof(*to));
		s->pos = end;
		return end < n ? KUW_AGAIN : 0;
	}
	if (s->pos < n) {
		if (!s->pos)
			clear(bits, s->histogram);
		end = batch_end(s, n);
		count(from + s->pos, end - s->pos, s->shift, bits, s->histogram);
		if (end == n)
			sum(bits, s->histogram);
		s->pos = end;
	} else {
		/* All are counted: move them, from the first on. */
		end = batch_end(s, 2 * n);
		move(from + (s->pos - n), to, end - s->pos, s->shift, bits, s->histogram);
		s->pos = end;
		if (end == 2 * n) {
			s->shift += bits;
			s->pos = 0;
		}
	}
	return KUW_AGAIN;
}

/* From the end, where there is room. Of equal addresses, those that stayed were found first. */
static int merge(struct kuw_sort *s)
{
	struct kuw_pair *fdes = s->pairs, *away = fdes + s->n;
	u32 left = s->nr_stay, least, stay, key;
	/* Counts pairs that are moved up, and those that are put between them. */
	u32 budget = KUW_BATCH_PAIRS;

	while (s->nr_away && budget) {
		key = away[s->nr_away - 1].key;
		least = left - min_t(u32, left, budget);
		stay = left;
		while (stay - least >= STRIDE && fdes[stay - STRIDE].key > key)
			stay -= STRIDE;
		while (stay > least && fdes[stay - 1].key > key)
			stay--;
		budget -= left - stay;
		memmove(fdes + stay + s->nr_away, fdes + stay, (left - stay) * sizeof(*fdes));
		left = stay;
		if (!budget)
			break;
		budget--;
		s->nr_away--;
		fdes[stay + s->nr_away] = away[s->nr_away];
	}
	s->nr_stay = left;
	return s->nr_away ? KUW_AGAIN : 0;
}

void kuw_sort_begin(struct kuw_sort *s, struct kuw_pair *pairs, u32 n)
{
	memset(s, 0, offsetof(struct kuw_sort, histogram));
	s->pairs = pairs;
	s->n = n;
}

int kuw_sort_fdes(struct kuw_sort *s)
{
	static int (*const steps[])(struct kuw_sort *s) = { split, away, merge };

	if (steps[s->step](s))
		return KUW_AGAIN;
	s->pos = 0;
	return ++s->step < ARRAY_SIZE(steps) ? KUW_AGAIN : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant digit first: linear, stable, and as fast for a hostile order
 * as for any other. A file may have millions of FDEs: these are sorted in batches. It has at
 * most 65,535 rules and nodes: these are sorted at once.
 */
#include "compile.h"
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

struct kuw_pair *kuw_sort_room(struct kuw_compile *c, u32 n)
{
	if (!kuw_compile_room(c, KUW_AREA_FDES, 2ULL * n * sizeof(struct kuw_pair)))
		return NULL;
	return c->areas[KUW_AREA_FDES].mem;
}

struct kuw_pair *kuw_sort(struct kuw_compile *c, struct kuw_pair *pairs, u32 n)
{
	struct kuw_pair *from = pairs, *to = pairs + n;
	u32 shift, i, bits = bits_of(n);
	u64 differ = 0;

	for (i = 1; i < n; i++)
		differ |= pairs[i].key ^ pairs[0].key;
	/* Stop after the highest digit in which keys differ: counts are often small. */
	for (shift = 0; differ >> shift; shift += bits) {
		clear(bits, c->scratch);
		count(from, n, shift, bits, c->scratch);
		sum(bits, c->scratch);
		move(from, to, n, shift, bits, c->scratch);
		from = to;
		to = from == pairs ? pairs + n : pairs;
	}
	return from;
}

/* Return: the end of the batch that starts at c->pos, of @n pairs. */
static u32 batch_end(const struct kuw_compile *c, u32 n)
{
	return min_t(u32, n, c->pos + KUW_BATCH_PAIRS);
}

/*
 * Nearly all FDEs are in the order of their addresses; those of sections such as
 * .text.unlikely come in between. Move those that are out of order to the area's second half.
 * As many pairs are then free after those that stay.
 */
int kuw_sort_split(struct kuw_compile *c)
{
	struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem, *from, *stay, *away;
	u32 last = c->highest;

	if (!c->nr_fdes)
		return -ENODATA;
	from = fdes + c->pos;
	stay = fdes + c->nr_stay;
	away = fdes + c->nr_fdes + c->nr_away;
	c->pos = batch_end(c, c->nr_fdes);
	for (; from < fdes + c->pos; from++) {
		if (from->key >= last) {
			last = from->key;
			*stay++ = *from;
		} else {
			c->away_keys |= from->key;
			*away++ = *from;
		}
	}
	c->highest = last;
	c->nr_stay = stay - fdes;
	c->nr_away = c->pos - c->nr_stay;
	return c->pos < c->nr_fdes ? KUW_AGAIN : 0;
}

int kuw_sort_away(struct kuw_compile *c)
{
	struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem, *away = fdes + c->nr_fdes;
	struct kuw_pair *room = fdes + c->nr_stay, *from, *to;
	u32 n = c->nr_away, bits = bits_of(n), end;
	bool odd = c->shift / bits & 1;

	from = odd ? room : away;
	to = odd ? away : room;
	/* All digits are done: if the result is in the free pairs, copy it back. */
	if (!((u64)c->away_keys >> c->shift)) {
		if (!odd)
			return 0;
		end = batch_end(c, n);
		memcpy(to + c->pos, from + c->pos, (end - c->pos) * sizeof(*to));
		c->pos = end;
		return end < n ? KUW_AGAIN : 0;
	}
	if (c->pos < n) {
		if (!c->pos)
			clear(bits, c->scratch);
		end = batch_end(c, n);
		count(from + c->pos, end - c->pos, c->shift, bits, c->scratch);
		if (end == n)
			sum(bits, c->scratch);
		c->pos = end;
	} else {
		/* All are counted: move them, from the first on. */
		end = batch_end(c, 2 * n);
		move(from + (c->pos - n), to, end - c->pos, c->shift, bits, c->scratch);
		c->pos = end;
		if (end == 2 * n) {
			c->shift += bits;
			c->pos = 0;
		}
	}
	return KUW_AGAIN;
}

/* From the end, where there is room. Of equal addresses, those that stayed were found first. */
int kuw_sort_merge(struct kuw_compile *c)
{
	struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem, *away = fdes + c->nr_fdes;
	u32 left = c->nr_stay, least, stay, key;
	/* Counts pairs that are moved up, and those that are put between them. */
	u32 budget = KUW_BATCH_PAIRS;

	while (c->nr_away && budget) {
		key = away[c->nr_away - 1].key;
		least = left - min_t(u32, left, budget);
		stay = left;
		while (stay - least >= STRIDE && fdes[stay - STRIDE].key > key)
			stay -= STRIDE;
		while (stay > least && fdes[stay - 1].key > key)
			stay--;
		budget -= left - stay;
		memmove(fdes + stay + c->nr_away, fdes + stay, (left - stay) * sizeof(*fdes));
		left = stay;
		if (!budget)
			break;
		budget--;
		c->nr_away--;
		fdes[stay + c->nr_away] = away[c->nr_away];
	}
	c->nr_stay = left;
	return c->nr_away ? KUW_AGAIN : 0;
}

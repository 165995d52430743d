// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant digit first: linear, stable, and as fast for a
 * hostile order as for any other. What a file may have millions of, its FDEs, is
 * sorted in batches; rules and nodes, 65,535 at most, in one go.
 */
#include "compile.h"
#include "limits.h"

/* Up to here it pays to count fewer digits, in more passes. */
#define FEW	4096
/* Pairs in order that are gone past at once. */
#define STRIDE	16

/* How many bits of the key one pass is about, if there are @n pairs. */
static u32 bits_of(u32 n)
{
	return n <= FEW ? 8 : KUW_RADIX_BITS;
}

/* A digit of @n keys, those from @shift on: how many pairs have which one. */
static void count(const struct kuw_pair *from, u32 n, u32 shift, u32 bits, u32 *histogram)
{
	u32 mask = (1u << bits) - 1, i;

	for (i = 0; i < n; i++)
		histogram[from[i].key >> shift & mask]++;
}

/* From how many have a digit to where the first of them goes. */
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
	/* Counts of a small file: the higher digits are all the same. */
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

/* Return: where a batch ends that begins at c->pos, of @n pairs. */
static u32 batch_end(const struct kuw_compile *c, u32 n)
{
	return min_t(u32, n, c->pos + KUW_BATCH_PAIRS);
}

/*
 * Nearly all FDEs are in the order of addresses; those of sections such as .text.unlikely
 * come in between. What is not in order goes away into the area's second half, and as
 * many pairs are then free behind what stays.
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
	/* Offsets have no more digits than the greatest. */
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
		/* All are counted: once more from the begin. */
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

/* From the end, where there is room. At the same address, what stayed was found first. */
int kuw_sort_merge(struct kuw_compile *c)
{
	struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem, *away = fdes + c->nr_fdes;
	u32 left = c->nr_stay, least, stay, key;
	/* Pairs that are moved up or looked at, and those that are put between them. */
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

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant digit first: linear, stable, and as fast for a
 * hostile order as for any other.
 */
#include "compile.h"

/* Up to here it pays to count fewer digits, in more passes. */
#define FEW	4096

u32 kuw_sort_bits(u32 n)
{
	return n <= FEW ? 8 : KUW_RADIX_BITS;
}

void kuw_sort_pass(const struct kuw_pair *from, struct kuw_pair *to, u32 n, u32 shift,
		   u32 *histogram)
{
	u32 mask = (1u << kuw_sort_bits(n)) - 1, i, sum = 0, here;

	memset(histogram, 0, (mask + 1) * sizeof(*histogram));
	for (i = 0; i < n; i++)
		histogram[from[i].key >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		here = histogram[i];
		histogram[i] = sum;
		sum += here;
	}
	for (i = 0; i < n; i++)
		to[histogram[from[i].key >> shift & mask]++] = from[i];
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
	u32 shift, i;
	u64 differ = 0;

	for (i = 1; i < n; i++)
		differ |= pairs[i].key ^ pairs[0].key;
	/* Counts of a small file: the higher digits are all the same. */
	for (shift = 0; differ >> shift; shift += kuw_sort_bits(n)) {
		kuw_sort_pass(from, to, n, shift, c->scratch);
		from = to;
		to = from == pairs ? pairs + n : pairs;
	}
	return from;
}

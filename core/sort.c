// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Radix sort, least significant digit first: linear, stable, and as fast for a
 * hostile order as for any other. Three passes of 11 bits sort 32-bit keys.
 */
#include "compile.h"

void kuw_sort_pass(struct kuw_pair *from, struct kuw_pair *to, u32 n, u32 pass,
		   u32 *histogram)
{
	u32 shift = pass * KUW_RADIX_BITS, mask = (1u << KUW_RADIX_BITS) - 1;
	u32 i, sum = 0, here;

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

void kuw_sort(struct kuw_compile *c, struct kuw_pair *pairs, u32 n)
{
	u32 differ = 0, i;

	for (i = 1; i < n; i++)
		differ |= pairs[i].key ^ pairs[0].key;
	kuw_sort_pass(pairs, pairs + n, n, 0, c->scratch);
	/* Counts of a small file: the other digits are all the same. */
	if (!(differ >> KUW_RADIX_BITS))
		return;
	kuw_sort_pass(pairs + n, pairs, n, 1, c->scratch);
	kuw_sort_pass(pairs, pairs + n, n, 2, c->scratch);
}

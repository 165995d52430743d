/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Binary search in a sorted array. */
#ifndef KR_COUNT_BEFORE_H
#define KR_COUNT_BEFORE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Return: how many elements of the array come before an address, by @is_before. That must
 * hold for the first ones alone.
 */
static inline guint kr_count_before(GArray *array,
				    bool (*is_before)(const void *element,
						      uint64_t address),
				    uint64_t address)
{
	guint low = 0, high = array->len, size = g_array_get_element_size(array);

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (is_before(array->data + (size_t)middle * size, address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif /* KR_COUNT_BEFORE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The second phase: sort FDEs by address. Ranks are sorted in the same way. */
#ifndef KUW_SORT_H
#define KUW_SORT_H

#include "area.h"

/* What radix sort moves. */
struct kuw_item {
	u32 key;
	u32 value;
};

/* Bytes of a key. */
#define KUW_SORT_BYTES	4

/* Where the next item with each value of a byte of the key goes. Private. */
struct kuw_sort {
	u32 place[U8_MAX + 1];
};

/*
 * Sort @n items by key; there is room for as many after them. Equal keys keep their order.
 * Return: 0, -EINTR, -ETIME.
 */
int kuw_sort(struct kuw_sort *s, struct kuw_areas *a, struct kuw_item *items, u32 n);

#endif /* KUW_SORT_H */

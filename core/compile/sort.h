/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The second phase: sort FDEs by address. Ranks are sorted in the same way. */
#ifndef KUW_SORT_H
#define KUW_SORT_H

#include "kunwind_port.h"

/* What radix sort moves. */
struct kuw_item {
	u32 key;
	u32 value;
};

/* Bytes of a key. */
#define KUW_SORT_BYTES	4

/* All are private. @pass and @pos are 0 before and after a sort. */
struct kuw_sort {
	u32 pass;
	u32 pos;
	u32 place[KUW_SORT_BYTES][U8_MAX + 1];
};

/*
 * Sort a batch of @n items by key; there is room for as many after them. Return: KUW_AGAIN; 0
 * when all are sorted. Equal keys keep their order.
 */
int kuw_sort_step(struct kuw_sort *s, struct kuw_item *items, u32 n);

#endif /* KUW_SORT_H */

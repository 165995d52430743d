/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rows as programs make them: KUW_AREA_FOUND has words. An FDE has one, its length, and its
 * rows follow, which together are as long. A row has one: how many bytes it holds for, and its
 * rule. A length that does not fit is in the word after it.
 */
#ifndef KUW_FOUND_H
#define KUW_FOUND_H

#include "area.h"
#include "budgets.h"

#define KUW_FOUND_LONG	0xffffu	/* the length is in the next word */

/* Two words of the row before, and two of the last row. */
#define KUW_FOUND_ROOM	4

/* The rows of all FDEs. */
struct kuw_found {
	struct kuw_areas *areas;
	u32 nr;			/* words */
	/* private: KUW_AREA_FOUND, and the FDE that is being written */
	u32 *words;
	u32 first;
	u32 last_rule;
	u32 last_off;
};

/* Return: the rule of a row. */
static inline u32 kuw_found_rule(const u32 *row)
{
	return (u16)*row;
}

/* Return: how many bytes a row holds for. *@row is the next one then. */
static inline u32 kuw_found_next(const u32 **row)
{
	u32 len = *(*row)++ >> 16;

	return len == KUW_FOUND_LONG ? *(*row)++ : len;
}

/* Start with the rows of an FDE that starts at @off. */
static inline void kuw_found_begin(struct kuw_found *f, u32 off)
{
	f->first = f->nr;
	/* No row has that. */
	f->last_rule = U32_MAX;
	f->last_off = off;
}

/* Make room for so many more @words. Return: 0, -ENOMEM, -E2BIG. */
static inline int kuw_found_room(struct kuw_found *f, u32 words)
{
	int ret = f->nr + words > KUW_MAX_ROWS ? -E2BIG :
		  kuw_area_room(f->areas, KUW_AREA_FOUND, (f->nr + words) * sizeof(u32));

	f->words = kuw_area(f->areas, KUW_AREA_FOUND);
	return ret;
}

/* Write the row that ends at @end. There is room. */
static inline void kuw_found_write(struct kuw_found *f, u32 end)
{
	u32 *word = f->words + f->nr++, len = end - f->last_off;

	if (len >= KUW_FOUND_LONG) {
		word[1] = len;
		len = KUW_FOUND_LONG;
		f->nr++;
	}
	*word = len << 16 | f->last_rule;
}

/*
 * A row with @rule starts at @off: write the row before, which is now complete. Before an FDE's
 * first row there is none: what is written then, the FDE's length replaces later. There is room.
 */
static inline void kuw_found_add(struct kuw_found *f, u32 off, u32 rule)
{
	if (f->last_rule == rule)
		return;
	kuw_found_write(f, off);
	f->last_off = off;
	f->last_rule = rule;
}

/* The FDE at @off, which has at least one row, has @len bytes. Return: where it is. */
static inline u32 kuw_found_end(struct kuw_found *f, u32 off, u32 len)
{
	/* The last row has made room. */
	kuw_found_write(f, off + len);
	f->words[f->first] = len;
	return f->first;
}

/* Forget what was written of the FDE. */
static inline void kuw_found_undo(struct kuw_found *f)
{
	f->nr = f->first;
}

#endif /* KUW_FOUND_H */

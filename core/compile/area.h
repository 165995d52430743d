/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The compiler's memory. It allocates nothing: it works in areas that its caller provides,
 * and asks for a larger one when it needs it. Each area has one use.
 */
#ifndef KUW_AREA_H
#define KUW_AREA_H

#include "kunwind_port.h"

/* A phase returns these, 0 when it is done, or a negative errno: -ENOSPC if an area must grow. */
#define KUW_AGAIN	1
#define KUW_GROW	2

/* Each is aligned to 8 bytes. */
enum kuw_area_id {
	KUW_AREA_FOUND,		/* u32: rows of FDEs, as found */
	KUW_AREA_FDES,		/* struct kuw_item: FDEs, as found and then by address */
	KUW_AREA_ENTRIES,	/* struct kuw_entry: rows by address, some of them together */
	KUW_AREA_REGS,		/* struct kuw_regset: distinct rules of all registers */
	KUW_AREA_RULES,		/* struct kuw_ruleset: distinct rules with the CFA's */
	KUW_AREA_HASH,		/* u32: both, by hash */
	KUW_AREA_MOVES,		/* struct kuw_move */
	KUW_AREA_EXPRS,		/* the pool of expressions */
	KUW_AREA_STATES,	/* struct kuw_cfi: remembered */
	KUW_AREA_SEQUENCES,	/* struct kuw_sequence */
	KUW_AREA_SLOTS,		/* u16: these by hash */
	KUW_AREA_ORDER,		/* struct kuw_item: rules by use, then sequences; room to sort */
	KUW_AREA_TABLE,		/* the table */
	KUW_NR_AREAS
};

struct kuw_area {
	void *mem;
	u64 bytes;
};

/* The caller allocates and frees the areas. */
struct kuw_areas {
	struct kuw_area area[KUW_NR_AREAS];
	u32 grow;		/* after KUW_GROW: which area must grow */
	u64 grow_bytes;		/* after KUW_GROW: to how many bytes */
	u64 least[KUW_NR_AREAS]; /* what an ordinary file needs: large areas need not be copied */
};

/* Ask for an area of @bytes, in @grow. Return: false. */
bool kuw_area_grow(struct kuw_areas *a, u32 id, u64 bytes);

/* Return: whether an area has room for @bytes; else kuw_areas.grow asks for it. */
static inline bool kuw_area_room(struct kuw_areas *a, u32 id, u64 bytes)
{
	return bytes <= a->area[id].bytes || kuw_area_grow(a, id, bytes);
}

static inline void *kuw_area(const struct kuw_areas *a, u32 id)
{
	return a->area[id].mem;
}

#endif /* KUW_AREA_H */

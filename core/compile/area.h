/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the compiler needs of its caller: memory, and a say in how long it works. It allocates
 * nothing: it works in areas that its caller provides, and has it grow them. Each area has one use.
 */
#ifndef KUW_AREA_H
#define KUW_AREA_H

#include "kunwind_port.h"
#include "budgets.h"

/* Each is aligned to 8 bytes. */
enum kuw_area_id {
	KUW_AREA_FOUND,		/* u32: rows of FDEs, as found */
	KUW_AREA_FDES,		/* struct kuw_item: FDEs, as found and then by address */
	KUW_AREA_INDEX,		/* u32: the table's index */
	KUW_AREA_CELLS,		/* struct kuw_cell: rows by address, some of them together */
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

/* The caller sets the functions, and frees the areas. */
struct kuw_areas {
	struct kuw_area area[KUW_NR_AREAS];
	/* Make an area larger, of @bytes. What it has stays. Return: 0, -ENOMEM. */
	int (*grow)(struct kuw_areas *a, u32 id, u64 bytes);
	/* Here the caller can reschedule. Return: 0; -EINTR, -ETIME to end the compilation. */
	int (*pause)(struct kuw_areas *a);
	u32 work;		/* private: since the last pause */
};

/* So that small files do not grow their areas step by step. */
#define KUW_LEAST_AREA	1024

/*
 * Make sure that an area has room for @bytes. It may move. Areas grow by doubling, except the table
 * (encode.c), which is as large as it must be. Return: 0, -ENOMEM.
 */
static inline int kuw_area_room(struct kuw_areas *a, u32 id, u64 bytes)
{
	if (bytes <= a->area[id].bytes)
		return 0;
	return a->grow(a, id, max_t(u64, KUW_LEAST_AREA, max_t(u64, bytes, 2 * a->area[id].bytes)));
}

/* So much @work was done: pause, if that is enough. Return: 0, -EINTR, -ETIME. */
static inline int kuw_pause_after(struct kuw_areas *a, u32 work)
{
	a->work += work;
	if (a->work < KUW_BATCH)
		return 0;
	a->work = 0;
	return a->pause(a);
}

static inline void *kuw_area(const struct kuw_areas *a, u32 id)
{
	return a->area[id].mem;
}

#endif /* KUW_AREA_H */

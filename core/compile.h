/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * From .eh_frame to a table: every FDE is found, sorted by address, its CFA
 * program run once (DWARF 5 6.4, LSB Core 10.6), its rows collected, its rules
 * interned and ranked by frequency, and all of it encoded as table.h says.
 *
 * The compiler allocates nothing. It works in areas that its caller provides
 * and asks for a larger one when it needs it:
 *
 *	kuw_compile_init(&c, &image);
 *	while ((ret = kuw_compile_step(&c)) > 0)
 *		if (ret == KUW_GROW)
 *			grow c.areas[c.grow] to >= c.grow_bytes, contents kept
 *		else
 *			a good place to reschedule, or to give up
 *	if (!ret)
 *		c.areas[KUW_AREA_TABLE].mem is the table, of c.table_bytes
 *
 * Up to KUW_FDE_ALIGN - 1 bytes of padding between an FDE and the next, which is
 * aligned, have the rule of the row before; all other gaps have no rule.
 *
 * A damaged record costs that record; what is behind a damaged length is lost.
 * Both are counted in the table.
 */
#ifndef KUW_COMPILE_H
#define KUW_COMPILE_H

#include "kunwind_port.h"
#include "cfi.h"
#include "elf.h"
#include "table.h"

/* What kuw_compile_step() returns beside 0 (done) and a negative errno. */
#define KUW_AGAIN	1
#define KUW_GROW	2

/* The areas; every one must be aligned to 8 bytes. */
enum kuw_area_id {
	KUW_AREA_FDES,		/* struct kuw_pair: FDEs by address; later rules by use */
	KUW_AREA_ROWS,		/* struct kuw_row */
	KUW_AREA_REGS,		/* struct kuw_regset: distinct rules of all registers */
	KUW_AREA_RULES,		/* struct kuw_ruleset: distinct rules with the CFA's */
	KUW_AREA_HASH,		/* u32: both, by hash */
	KUW_AREA_CHANGES,	/* struct kuw_change: of registers, and of the CFA */
	KUW_AREA_EXPRS,		/* the pool of expressions */
	KUW_AREA_STATES,	/* struct kuw_cfi: remembered */
	KUW_AREA_TABLE,		/* the table */
	KUW_NR_AREAS
};

struct kuw_area {
	void *mem;
	u64 bytes;
};

/* What radix sort moves: see sort.c. */
struct kuw_pair {
	u32 key;
	u32 value;
};

struct kuw_row {
	u32 off;
	u32 rule;
};

/* @saves: its index in the table, or KUW_NO_SAVES. */
struct kuw_regset {
	u64 reg[KUW_NR_REGS];
	u32 hash;
	u32 saves;
};

/*
 * Set @from with @loc is @to: a set of register rules with one of them replaced,
 * or a rule with a CFA. Caches, direct-mapped: programs make the same few
 * changes over and over, and what is behind them compares in full.
 */
struct kuw_change {
	u64 loc;
	u32 from;
	u32 to;
};

#define KUW_CHANGES_BITS	9

#define KUW_NO_SAVES	(~0u)

/* @rank: its number in the table. */
struct kuw_ruleset {
	u64 cfa;
	u32 regs;
	u32 signal;
	u32 uses;
	u32 rank;
};

struct kuw_image {
	const struct kuw_elf *elf;
	const u8 *eh_frame;
	const u8 *eh_frame_hdr;
};

#define KUW_CIE_SLOTS	8
#define KUW_RADIX_BITS	11

/* CIEs that were parsed lately, with the state that their program leaves. */
struct kuw_cie_slot {
	u32 pos;
	int err;
	struct kuw_cie cie;
	struct kuw_cfi initial;
};

/**
 * struct kuw_compile - a compilation
 * @areas: its memory, all the caller's
 * @grow: after KUW_GROW: which area
 * @grow_bytes: and to how many bytes
 * @table_bytes: at the end: the table's
 * The rest is the compiler's own.
 */
struct kuw_compile {
	struct kuw_area areas[KUW_NR_AREAS];
	u32 grow;
	u64 grow_bytes;
	u32 table_bytes;

	const struct kuw_elf *elf;
	struct kuw_section eh_frame;
	struct kuw_section eh_frame_hdr;
	u64 base;
	u32 phase;
	u32 pos;
	u32 scanned;
	u64 covered;
	u32 nr_fdes;
	u32 nr_bad;
	u32 nr_rows;
	u32 max_rows;
	u32 last_rule;
	u32 last_block;
	u32 nr_chunks;
	u32 nr_regs;
	u32 nr_rules;
	u32 nr_ranked;
	u32 nr_saves;
	u32 nr_locs;
	u32 nr_rare;
	u32 exprs_len;
	u32 hash_bits;
	u32 signal;
	bool unsorted;
	u32 chunk;
	u32 rare;
	struct kuw_cie_slot slots[KUW_CIE_SLOTS];
	u32 histogram[1u << KUW_RADIX_BITS];
};

void kuw_compile_init(struct kuw_compile *c, const struct kuw_image *image);

/* Return: KUW_AGAIN, KUW_GROW, 0, or: -ENODATA without a usable FDE; -E2BIG
 * beyond a limit of limits.h.
 */
int kuw_compile_step(struct kuw_compile *c);

/* Between the files of the compiler. */

/* Make c->grow ask for an area of @bytes. Return: false. */
bool kuw_compile_grow(struct kuw_compile *c, u32 area, u64 bytes);

/* Return: whether an area has room for @bytes; else c->grow asks for it. */
static inline bool kuw_compile_room(struct kuw_compile *c, u32 area, u64 bytes)
{
	return likely(bytes <= c->areas[area].bytes) ||
	       kuw_compile_grow(c, area, bytes);
}

/* Make room for a row. Return: 0, -ENOSPC, -E2BIG. */
int kuw_compile_row_room(struct kuw_compile *c);

/* The rule of the state @cfi, when it is not among the changes: find or add it.
 * Return: 0, -EINVAL if the state has no CFA, -ENOSPC, -E2BIG.
 */
int kuw_intern_rule(struct kuw_compile *c, const struct kuw_cfi *cfi,
		    struct kuw_change *change);

/* Intern an expression; @off is its place in the pool. Return: as above. */
int kuw_compile_expr(struct kuw_compile *c, const u8 *bytes, u32 len, s32 *off);

/* Make the first of each set. Return: 0, -ENOSPC. */
int kuw_intern_init(struct kuw_compile *c);

/* Fill the hash after its area has grown. */
void kuw_intern_rehash(struct kuw_compile *c);

/* Return: the rule of a register in a set. */
static inline u64 kuw_intern_get(const struct kuw_compile *c, u32 regs, u32 reg)
{
	const struct kuw_regset *sets = c->areas[KUW_AREA_REGS].mem;

	return sets[regs].reg[reg];
}

#define KUW_MIX		0xff51afd7ed558ccdULL
#define KUW_MIX2	0xc4ceb9fe1a85ec53ULL

/* @kind: 0 for changes of registers' rules, 1 for rules with a CFA. */
static inline struct kuw_change *
kuw_intern_change(const struct kuw_compile *c, u32 kind, u32 from, u64 loc)
{
	struct kuw_change *changes = c->areas[KUW_AREA_CHANGES].mem;

	return changes + ((kind << KUW_CHANGES_BITS) |
			  (loc * KUW_MIX + from * KUW_MIX2) >>
			  (64 - KUW_CHANGES_BITS));
}

/* When it is not among the changes. */
int kuw_intern_regs(struct kuw_compile *c, u32 *regs, u32 reg, u64 loc,
		    struct kuw_change *change);

/* Replace the rule of @reg in set *@regs. Return: 0, -ENOSPC, -E2BIG. */
static inline int kuw_intern_set(struct kuw_compile *c, u32 *regs, u32 reg,
				 u64 loc)
{
	struct kuw_change *change = kuw_intern_change(c, 0, *regs, loc);

	if (unlikely(change->loc != loc || change->from != *regs || !change->to))
		return kuw_intern_regs(c, regs, reg, loc, change);
	*regs = change->to;
	return 0;
}

/* Put a row behind the others, which begin before it. Return: 0, -ENOSPC, -E2BIG. */
static inline int kuw_compile_append(struct kuw_compile *c, u32 off, u32 rule)
{
	struct kuw_row *row;

	if (c->last_rule == rule)
		return 0;
	if (unlikely(c->nr_rows == c->max_rows)) {
		int err = kuw_compile_row_room(c);

		if (err)
			return err;
	}
	row = (struct kuw_row *)c->areas[KUW_AREA_ROWS].mem + c->nr_rows++;
	row->off = off;
	row->rule = rule;
	c->last_rule = rule;
	c->nr_chunks += off >> KUW_BLOCK_SHIFT != c->last_block;
	c->last_block = off >> KUW_BLOCK_SHIFT;
	return 0;
}

/* A row begins at @loc: the state @cfi holds there. Return: as the two above. */
static inline int kuw_compile_row(struct kuw_compile *c,
				  const struct kuw_cfi *cfi, u64 loc, u64 end)
{
	u32 from = cfi->regs * 2 + c->signal;
	struct kuw_change *change = kuw_intern_change(c, 1, from, cfi->cfa);
	int err;

	if (unlikely(loc >= end))
		return 0;
	if (unlikely(change->loc != cfi->cfa || change->from != from ||
		     !change->to)) {
		err = kuw_intern_rule(c, cfi, change);
		if (err)
			return err;
	}
	return kuw_compile_append(c, loc, change->to);
}

/* One pass of three; the pairs are in the other half of the area after it. */
void kuw_sort_pass(struct kuw_pair *from, struct kuw_pair *to, u32 n, u32 pass,
		   u32 *histogram);

/* Rank the rules, lay the table out, write it; as kuw_compile_step(). */
int kuw_encode_layout(struct kuw_compile *c);
int kuw_encode_step(struct kuw_compile *c);

#endif /* KUW_COMPILE_H */

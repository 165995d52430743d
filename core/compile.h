/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * From .eh_frame to a table: every FDE is found and its CFA program run once
 * (DWARF 5 6.4, LSB Core 10.6), the rows are put in the order of addresses,
 * runs of rows that occur often are found, rules and runs are ranked by
 * frequency, and all of it is encoded as table.h says.
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
 * Up to KUW_FDE_ALIGN - 1 bytes of padding between an FDE and the next, whose code is
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
	KUW_AREA_FOUND,		/* u32: FDEs and rows as found; later codes, entries */
	KUW_AREA_ROWS,		/* u64: rows by address */
	KUW_AREA_REGS,		/* struct kuw_regset: distinct rules of all registers */
	KUW_AREA_RULES,		/* struct kuw_ruleset: distinct rules with the CFA's */
	KUW_AREA_HASH,		/* u32: both, by hash */
	KUW_AREA_MOVES,		/* struct kuw_move */
	KUW_AREA_PROGRAMS,	/* struct kuw_program; later u64: nodes by hash */
	KUW_AREA_EXPRS,		/* the pool of expressions */
	KUW_AREA_STATES,	/* struct kuw_cfi: remembered */
	KUW_AREA_NODES,		/* struct kuw_node */
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

/*
 * What is found are words. Those of an FDE: where its rows begin, and its length. That
 * of a row: how long it holds, and its rule. So FDEs with the same program share
 * their rows.
 */
#define KUW_FOUND_FDE	2	/* words of an FDE */
#define KUW_FOUND_LAST	0xfffe	/* the length is what is left of the FDE */
#define KUW_FOUND_LONG	0xffff	/* the length is a word of its own, the next */
/* The words that may be written before there is a look whether there is room. */
#define KUW_FOUND_ROOM	3

static inline u32 kuw_found_row(u32 len, u32 rule)
{
	return len << 16 | rule;
}

static inline u32 kuw_found_len(const u32 *row)
{
	return get_unaligned_le16((const u16 *)row + 1);
}

static inline u32 kuw_found_rule(const u32 *row)
{
	return get_unaligned_le16(row);
}

/* From a row to this one behind it: how long the former holds, if its word says so, and
 * this one's rule. These halves of both words lie side by side.
 */
static inline u32 kuw_found_step(const u32 *row)
{
	return get_unaligned_le32((const u16 *)row - 1);
}

/*
 * Rows by address: an offset and the rule. Or several that may be a run: the offset of
 * the first, and above the numbers of rules that of the node that they all are.
 */
static inline u64 kuw_row(u32 off, u32 what)
{
	return off | (u64)what << 32;
}

static inline u32 kuw_row_off(u64 row)
{
	return row;
}

static inline u32 kuw_row_what(u64 row)
{
	return row >> 32;
}

/* @saves: its index in the table, or KUW_NO_SAVES. @plain: struct kuw_saves can say it. */
struct kuw_regset {
	u64 reg[KUW_NR_REGS];
	u32 hash;
	u32 saves;
	bool plain;
};

/*
 * What was interned lately, so that it need not be compared in full: the set of
 * registers' rules that an instruction makes of another, and the rule that a set
 * and a CFA are. Both caches are direct-mapped: programs do the same over and over.
 */
struct kuw_move {
	u64 key;
	u32 to;
};

#define KUW_NO_SAVES	(~0u)

/* @rank: its number in the table. @uses: rows with it that are in no run, entries. */
struct kuw_ruleset {
	u64 cfa;
	u32 regs;
	u32 signal;
	u32 uses;
	u32 rank;
};

/**
 * struct kuw_node - a way to begin a run: a node in the tree of them all
 * @key: its parent, which is the same without the last row, or 0; the last row's rule;
 *	its distance from the row before
 * @uses: how often rows ended there, then how often it was passed, then how often it
 *	is encoded
 * @covered: how many of those are encoded as a longer run
 * @next: another one with the same hash
 * @run: which run the first @take rows are
 * @depth: rows
 * @span: from the first row to the last
 * @take: how many of them are a run of the table; 0 if none
 */
struct kuw_node {
	u64 key;
	u32 uses;
	u32 covered;
	u16 next;
	u16 run;
	u8 depth;
	u8 span;
	u8 take;
};

static inline u32 kuw_node_parent(const struct kuw_node *node)
{
	return node->key >> 32;
}

static inline u8 kuw_node_delta(const struct kuw_node *node)
{
	return node->key;
}

static inline u16 kuw_node_rule(const struct kuw_node *node)
{
	return node->key >> 16;
}

/* Rows of a run, at most, and bytes from one to the next: an offset in it has a byte. */
#define KUW_RUN_ROWS	8
#define KUW_RUN_NEAR	15

struct kuw_image {
	const struct kuw_elf *elf;
	const u8 *eh_frame;
	const u8 *eh_frame_hdr;
};

#define KUW_CIE_SLOTS	8
#define KUW_RADIX_BITS	11

/* CIEs that were parsed lately, with the state that their program leaves: @usual is that as
 * one word, or 0 if programs of this CIE's FDEs are not as usual; @gnu: addresses in them are as
 * GNU tools write them.
 */
struct kuw_cie_slot {
	u32 pos;
	int err;
	struct kuw_cie cie;
	struct kuw_cfi initial;
	u64 usual;
	bool gnu;
};

/**
 * struct kuw_compile - a compilation
 * @areas: its memory, all the caller's
 * @grow: after KUW_GROW: which area
 * @grow_bytes: and to how many bytes
 * @table_bytes: at the end: the table's
 */
struct kuw_compile {
	struct kuw_area areas[KUW_NR_AREAS];
	u32 grow;
	u64 grow_bytes;
	u32 table_bytes;
	/* private: the compiler's own */
	const struct kuw_elf *elf;
	const struct kuw_segment *segment;
	struct kuw_section eh_frame;
	struct kuw_section eh_frame_hdr;
	const u8 *words_end;
	u64 base;
	u32 covered;
	u32 phase;
	u32 pos;
	u32 scanned;
	u32 nr_fdes;
	u32 max_fdes;
	u32 nr_bad;
	u32 nr_found;
	u32 max_found;
	u32 max_rows;
	u32 longest;
	u32 nr_rows;
	u32 nr_placed;
	u32 last_rule;
	u32 last_off;
	u32 nr_chunks;
	u32 nr_regs;
	u32 nr_rules;
	u32 nr_ranked;
	u32 nr_saves;
	u32 nr_locs;
	u32 nr_nodes;
	u32 max_nodes;
	u32 node_mask;
	u32 nr_runs;
	u32 nr_run_rows;
	u32 nr_entries;
	u32 exprs_len;
	u32 hash_bits;
	u32 program_shift;
	u32 move_mask;
	u32 batch_bytes;
	u32 signal;
	u32 nr_stay;
	u32 highest;
	u32 nr_away;
	u32 away_keys;
	u32 shift;
	u32 chunk;
	struct kuw_cie_slot slots[KUW_CIE_SLOTS];
	/* Of a sort. It comes last: it need not be emptied for each file. */
	u32 scratch[1u << KUW_RADIX_BITS];
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

/* Make room for KUW_FOUND_ROOM words. Return: 0, -ENOSPC, -E2BIG. */
int kuw_compile_grow_found(struct kuw_compile *c);

static inline int kuw_compile_found_room(struct kuw_compile *c)
{
	return likely(c->nr_found + KUW_FOUND_ROOM <= c->max_found) ?
	       0 : kuw_compile_grow_found(c);
}

/* Find or add the rule of the state @cfi. Return: 0, -EINVAL if the state has no
 * CFA, -ENOSPC, -E2BIG.
 */
int kuw_intern_rule(struct kuw_compile *c, const struct kuw_cfi *cfi, u32 *rule);

/* Replace the rule of @reg in set *@regs. Return: 0, -ENOSPC, -E2BIG. */
int kuw_intern_set(struct kuw_compile *c, u32 *regs, u32 reg, u64 loc);

/* Intern an expression; @off is its place in the pool. Return: as above. */
int kuw_compile_expr(struct kuw_compile *c, const u8 *bytes, u32 len, s32 *off);

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

/*
 * A row with @rule begins at @off, which completes the one before. The first one
 * of an FDE writes where the FDE's length will stand. Return: 0, -ENOSPC, -E2BIG.
 */
static inline int kuw_compile_append(struct kuw_compile *c, u32 off, u32 rule)
{
	u32 len = off - c->last_off, *found;
	int err;

	if (c->last_rule == rule)
		return 0;
	err = kuw_compile_found_room(c);
	if (unlikely(err))
		return err;
	found = (u32 *)c->areas[KUW_AREA_FOUND].mem + c->nr_found++;
	if (unlikely(len >= KUW_FOUND_LAST)) {
		found[1] = len;
		len = KUW_FOUND_LONG;
		c->nr_found++;
	}
	*found = kuw_found_row(len, c->last_rule);
	c->last_off = off;
	c->last_rule = rule;
	c->max_rows++;
	return 0;
}

/* Make room for the tree of runs, and empty it. Return: 0, -ENOSPC. */
int kuw_runs_init(struct kuw_compile *c);

/* The tree of runs; and by hash, one word for each node: its key and its number. */
struct kuw_tree {
	struct kuw_node *nodes;
	u64 *slots;
	u32 mask;
};

static inline struct kuw_tree kuw_runs_tree(const struct kuw_compile *c)
{
	return (struct kuw_tree){ .nodes = c->areas[KUW_AREA_NODES].mem,
				  .slots = c->areas[KUW_AREA_PROGRAMS].mem,
				  .mask = c->node_mask };
}

/* Return: where the node of rows with this hash may be. */
static __always_inline u64 *kuw_runs_slot(struct kuw_tree tree, u64 hash)
{
	return tree.slots + ((u32)(hash >> 32) & tree.mask);
}

/* In a slot a node's number lies between the halves of its key; rows that are on their way
 * in the tree have the number of their node in the place of the parent's.
 */
#define KUW_SLOT_NODE	(0xffffULL << 32)

static inline u64 kuw_runs_above(u32 node)
{
	return (u64)node << 48;
}

static inline u32 kuw_runs_node(u64 above)
{
	return above >> 48;
}

/*
 * One more row comes behind the rows that are @above; @step is its kuw_found_step(), of the
 * first row the rule's half. Return: a slot with the node that they are together alone, or if
 * more is in it kuw_runs_grow() must look for it. @hash is of the rows, not of their node:
 * the way from a row to the next must not lead through memory.
 */
static __always_inline u64 kuw_runs_child(struct kuw_tree tree, u64 above, u64 step, u64 *hash)
{
	*hash = (*hash ^ step) * KUW_MIX;
	/* Rule 0 is in no run, so that an empty slot is no node's. */
	return *kuw_runs_slot(tree, *hash) ^ (above | step);
}

/* Find or make the node that kuw_runs_child() did not find, which returned @child. Return: what
 * is above the next row; with KUW_RUNS_FULL if the rows are too many: above this one.
 */
u64 kuw_runs_grow(struct kuw_compile *c, u64 child, u64 hash);

#define KUW_RUNS_FULL	1ULL

/* Choose the runs of the table, and count the uses of rules; @pairs are for sorting. */
void kuw_runs_choose(struct kuw_compile *c, struct kuw_pair *pairs);

/* Write them. */
void kuw_runs_write(const struct kuw_compile *c, struct kuw_table *table);

/* Return: pairs of which @n are to be sorted, with as many behind; or NULL. */
struct kuw_pair *kuw_sort_room(struct kuw_compile *c, u32 n);

/* Sort them by key. Return: where they are then: there, or behind. */
struct kuw_pair *kuw_sort(struct kuw_compile *c, struct kuw_pair *pairs, u32 n);

/*
 * The phases, one after the other. c->pos is 0 when one begins. Return: 0 when it is
 * done, KUW_AGAIN, -ENOSPC, or as kuw_compile_step().
 */

/* Make the first of each set, and the hash. */
int kuw_intern_init(struct kuw_compile *c);

/* Make the cache of programs. */
int kuw_programs_init(struct kuw_compile *c);

/* Find FDEs and run their programs: through .eh_frame from its begin. */
int kuw_scan(struct kuw_compile *c);

/* And FDEs behind the end of that, by .eh_frame_hdr. */
int kuw_scan_header(struct kuw_compile *c);

/* Sort FDEs by address: take away those that are out of order, sort these, merge. */
int kuw_sort_split(struct kuw_compile *c);
int kuw_sort_away(struct kuw_compile *c);
int kuw_sort_merge(struct kuw_compile *c);

/* Make room for the first rows by address, and for the tree of runs. */
int kuw_place_init(struct kuw_compile *c);

/* Put the rows in the order of addresses, FDE by FDE. */
int kuw_place_rows(struct kuw_compile *c);

/* Choose the runs and rank them, and rules; lay the table out; write its blocks. */
int kuw_encode_rank(struct kuw_compile *c);
int kuw_encode_layout(struct kuw_compile *c);
int kuw_encode_blocks(struct kuw_compile *c);

#endif /* KUW_COMPILE_H */

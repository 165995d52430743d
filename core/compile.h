/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The compiler makes a table from .eh_frame. It finds every FDE and runs its CFA program
 * once (DWARF 5 6.4, LSB Core 10.6). It sorts the rows by address, and finds runs of rows
 * that occur often. It ranks rules and runs by frequency, and encodes all of it as table.h
 * says.
 *
 * The compiler allocates nothing. It works in areas that its caller provides, and asks
 * for a larger one when it needs it:
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
 * Padding between two FDEs has the rule of the row before it: up to KUW_FDE_ALIGN - 1 bytes
 * before aligned code. All other gaps have no rule.
 *
 * A damaged record is left out. After a damaged length, all records are lost, except those
 * that .eh_frame_hdr names. The table counts damaged records.
 */
#ifndef KUW_COMPILE_H
#define KUW_COMPILE_H

#include "kunwind_port.h"
#include "cfi.h"
#include "elf.h"
#include "table.h"

/* kuw_compile_step() returns these, 0 (done), or a negative errno. */
#define KUW_AGAIN	1
#define KUW_GROW	2

/* The areas, each aligned to 8 bytes. */
enum kuw_area_id {
	KUW_AREA_FDES,		/* struct kuw_pair: FDEs by address; later rules by use */
	KUW_AREA_FOUND,		/* u32: FDEs and rows as found; later codes, entries */
	KUW_AREA_ROWS,		/* u64: rows by address */
	KUW_AREA_REGS,		/* struct kuw_regset: distinct rules of all registers */
	KUW_AREA_RULES,		/* struct kuw_ruleset: distinct rules with the CFA's */
	KUW_AREA_HASH,		/* u32: both, by hash */
	KUW_AREA_MOVES,		/* struct kuw_move */
	KUW_AREA_SLOTS,		/* u64: nodes by hash */
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
 * KUW_AREA_FOUND has words. An FDE has one, its length, and its rows follow. A row has one:
 * how many bytes it holds for, and its rule.
 */
#define KUW_FOUND_LAST	0xfffe	/* the row holds up to the end of the FDE */
#define KUW_FOUND_LONG	0xffff	/* the length is in the next word */
/* How many words may be written between two checks for room. */
#define KUW_FOUND_ROOM	3

static inline u32 kuw_found_row(u32 len, u32 rule)
{
	return len << 16 | rule;
}

static inline u32 kuw_found_len(const u32 *row)
{
	return *row >> 16;
}

static inline u32 kuw_found_rule(const u32 *row)
{
	return (u16)*row;
}

/* The step from the row before @row to @row: the length of the former (if its word has it)
 * and the rule of the latter.
 */
static inline u32 kuw_found_step(const u32 *row)
{
	return kuw_found_len(row - 1) | kuw_found_rule(row) << 16;
}

/*
 * KUW_AREA_ROWS has rows by address. A word is one row: its offset and the number of its
 * rule. Or it is several rows that may be a run: the offset of the first, and the number
 * of their node, counted from where the numbers of rules end.
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

/* @saves: its index in the table, or KUW_NO_SAVES. @plain: struct kuw_saves can express it. */
struct kuw_regset {
	u64 reg[KUW_NR_REGS];
	u32 hash;
	u32 saves;
	bool plain;
};

/*
 * An entry of the two caches of what was interned lately. In one, @key is a register's rule
 * that was put into set @from, and @to is the set that this made. In the other, @key is the
 * CFA's rule, @from is a set with the FDE's signal bit, and @to is the rule of both. They save
 * comparing sets in full. Both are direct-mapped, which suffices, as programs repeat themselves.
 */
struct kuw_move {
	u64 key;
	u32 from;
	u32 to;
};

#define KUW_NO_SAVES	(~0u)

/*
 * @rank: its number in the table; before it has one, 1 if a run has the rule.
 * @uses: entries of the table with it, which are its rows that are in no run.
 */
struct kuw_ruleset {
	u64 cfa;
	u32 regs;
	u32 signal;
	u32 uses;
	u32 rank;
};

/**
 * struct kuw_node - a sequence of rows that may be a run, as a node in a tree of all
 * @key: its parent (the same rows without the last one), or 0; the last row's rule; the
 *	last row's distance from the row before
 * @uses: first how often rows ended at this node; then how often they reached it; then
 *	how often it is encoded
 * @covered: how many of those are encoded as a longer run
 * @next: another node with the same hash
 * @run: which run the first @take rows are
 * @depth: how many rows
 * @span: bytes from the first row to the last
 * @take: how many of its first rows are a run of the table; 0 if none
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

/* The most rows of a run, and the most bytes from one to the next: offsets are bytes. */
#define KUW_RUN_ROWS	8
#define KUW_RUN_NEAR	15

struct kuw_image {
	const struct kuw_elf *elf;
	const u8 *eh_frame;
	const u8 *eh_frame_hdr;
};

#define KUW_CIE_SLOTS	8
#define KUW_RADIX_BITS	11

/* A CIE that was parsed lately, with the state that its program leaves. */
struct kuw_cie_slot {
	u32 pos;
	int err;
	struct kuw_cie cie;
	struct kuw_cfi initial;
};

/**
 * struct kuw_compile - a compilation
 * @areas: its memory, which the caller allocates and frees
 * @grow: after KUW_GROW: which area must grow
 * @grow_bytes: after KUW_GROW: to how many bytes
 * @table_bytes: at the end: bytes of the table
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
	u32 move_shift;
	u32 batch_bytes;
	u32 signal;
	u32 nr_stay;
	u32 highest;
	u32 nr_away;
	u32 away_keys;
	u32 shift;
	u32 chunk;
	struct kuw_cie_slot slots[KUW_CIE_SLOTS];
	/* Counts of a sort. Last, as kuw_compile_init() need not clear it. */
	u32 scratch[1u << KUW_RADIX_BITS];
};

void kuw_compile_init(struct kuw_compile *c, const struct kuw_image *image);

/* Return: KUW_AGAIN, KUW_GROW, or 0; -ENODATA if there is no usable FDE; -E2BIG if a
 * limit of limits.h is exceeded.
 */
int kuw_compile_step(struct kuw_compile *c);

/* The rest is for the files of the compiler only. */

#define KUW_MIX		0xff51afd7ed558ccdULL
#define KUW_MIX2	0xc4ceb9fe1a85ec53ULL

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

/*
 * Where a step of the two caches may be: the first half of KUW_AREA_MOVES has rules, the
 * second one sets.
 */
static inline struct kuw_move *kuw_intern_move(const struct kuw_compile *c, bool set,
					       u64 key, u32 from)
{
	u64 hash = (key ^ (u64)from << 40) * KUW_MIX;

	return (struct kuw_move *)c->areas[KUW_AREA_MOVES].mem +
	       ((hash >> c->move_shift) + ((u64)set << (64 - c->move_shift)));
}

/* The same as the two functions below, if the step is not in its cache. */
int kuw_intern_new_rule(struct kuw_compile *c, u64 cfa, u32 regs, u32 *rule);
int kuw_intern_new_set(struct kuw_compile *c, u32 *regs, u64 loc);

/* Find or add the rule of a CFA and a set. Return: 0, -EINVAL if there is no CFA, -ENOSPC, -E2BIG. */
static inline int kuw_intern_rule(struct kuw_compile *c, u64 cfa, u32 regs, u32 *rule)
{
	u32 from = regs | c->signal << 31;
	struct kuw_move *move = kuw_intern_move(c, false, cfa, from);

	if (unlikely(move->key != cfa || move->from != from))
		return kuw_intern_new_rule(c, cfa, regs, rule);
	*rule = move->to;
	return 0;
}

/* Replace the rule of a register in set *@regs by @loc, which names it. Return: 0, -ENOSPC, -E2BIG. */
static inline int kuw_intern_set(struct kuw_compile *c, u32 *regs, u64 loc)
{
	struct kuw_move *move = kuw_intern_move(c, true, loc, *regs);

	if (unlikely(move->key != loc || move->from != *regs))
		return kuw_intern_new_set(c, regs, loc);
	*regs = move->to;
	return 0;
}

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

/*
 * A row with @rule starts at @off: write the row before, which is now complete. For the
 * first row of an FDE, that writes a row of rule 0, whose word the FDE's length replaces later.
 * Return: 0, -ENOSPC, -E2BIG.
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

/* The tree of runs; and a hash with one word for each slot: a node's key and number. */
struct kuw_tree {
	struct kuw_node *nodes;
	u64 *slots;
	u32 mask;
};

static inline struct kuw_tree kuw_runs_tree(const struct kuw_compile *c)
{
	return (struct kuw_tree){ .nodes = c->areas[KUW_AREA_NODES].mem,
				  .slots = c->areas[KUW_AREA_SLOTS].mem,
				  .mask = c->node_mask };
}

/* Return: where the node of rows with this hash may be. */
static __always_inline u64 *kuw_runs_slot(struct kuw_tree tree, u64 hash)
{
	return tree.slots + ((u32)(hash >> 32) & tree.mask);
}

/* A slot has, from the highest bit: the parent's number, the node's number, and the lower
 * half of the node's key. While rows are matched, "above" has the number of the node that
 * they have reached, in the place of the parent's.
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
 * Match one more row after the rows that are @above. @step is its kuw_found_step(); for the
 * first row, only the rule's half. @hash is that of the rows, and not that of their node, so
 * that the next slot can be computed without waiting for a load.
 * Return: only the node's number (KUW_SLOT_NODE) if the slot has the node; if other bits are
 * set, kuw_runs_grow() must find it.
 */
static __always_inline u64 kuw_runs_child(struct kuw_tree tree, u64 above, u64 step, u64 *hash)
{
	*hash = (*hash ^ step) * KUW_MIX;
	/* No run has rule 0, so an empty slot matches no rows. */
	return *kuw_runs_slot(tree, *hash) ^ (above | step);
}

/* Find or make the node that kuw_runs_child(), which returned @child, did not find. Return:
 * "above" for the next row; if no node can be made, "above" for this row and KUW_RUNS_FULL.
 */
u64 kuw_runs_grow(struct kuw_compile *c, u64 child, u64 hash);

#define KUW_RUNS_FULL	1ULL

/* Choose the runs of the table, and count the uses of rules; @pairs is room for sorting. */
void kuw_runs_choose(struct kuw_compile *c, struct kuw_pair *pairs);

/* Write the runs into the table. */
void kuw_runs_write(const struct kuw_compile *c, struct kuw_table *table);

/* Return: room for @n pairs and, after them, for @n more that sorting needs; or NULL. */
struct kuw_pair *kuw_sort_room(struct kuw_compile *c, u32 n);

/* Sort @n pairs by key. Return: the sorted pairs: @pairs, or @pairs + @n. */
struct kuw_pair *kuw_sort(struct kuw_compile *c, struct kuw_pair *pairs, u32 n);

/*
 * The phases, in their order. c->pos is 0 when a phase starts. Return: 0 when it is done,
 * KUW_AGAIN, -ENOSPC, or an error of kuw_compile_step().
 */

/* Make the first set and the first rule, the caches, and the hash. */
int kuw_intern_init(struct kuw_compile *c);

/* Find FDEs and run their programs, from the start of .eh_frame on. */
int kuw_scan(struct kuw_compile *c);

/* The same for FDEs that kuw_scan() did not reach, by .eh_frame_hdr. */
int kuw_scan_header(struct kuw_compile *c);

/* Sort FDEs by address: take out those that are out of order, sort these, merge. */
int kuw_sort_split(struct kuw_compile *c);
int kuw_sort_away(struct kuw_compile *c);
int kuw_sort_merge(struct kuw_compile *c);

/* Make room for the first rows by address, and for the tree of runs. */
int kuw_place_init(struct kuw_compile *c);

/* Put the rows in the order of their addresses, FDE by FDE. */
int kuw_place_rows(struct kuw_compile *c);

/* Choose runs, and rank runs and rules; lay out the table; write its blocks. */
int kuw_encode_rank(struct kuw_compile *c);
int kuw_encode_layout(struct kuw_compile *c);
int kuw_encode_blocks(struct kuw_compile *c);

#endif /* KUW_COMPILE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Runs: sequences of rows that a file has in many places. */
#ifndef KUW_RUNS_H
#define KUW_RUNS_H

#include "found.h"
#include "intern.h"
#include "sort.h"
#include "table.h"

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

/**
 * struct kuw_runs - the tree of sequences, and the runs chosen from it
 * @areas: where the tree is: KUW_AREA_NODES, KUW_AREA_SLOTS
 * @nodes: the tree
 * @nr_nodes: how many nodes, with the root, 0
 * @nr_rows: how many rows, alone or in runs, kuw_runs_choose() has counted
 * @nr_runs: how many runs it has chosen
 * @nr_run_rows: their rows
 */
struct kuw_runs {
	struct kuw_areas *areas;
	struct kuw_node *nodes;
	u32 nr_nodes;
	u32 nr_rows;
	u32 nr_runs;
	u32 nr_run_rows;
	/* private */
	u16 *slots;
	u32 max_nodes;
	u32 mask;
};

/* Make room for the tree of @nr_rows rows, and empty it. Return: 0, -ENOSPC. */
int kuw_runs_init(struct kuw_runs *r, u32 nr_rows);

/*
 * Find or make the node of the rows of @parent (0: none) and one more row. @step is the row's
 * kuw_found_step(); for the first row, only the rule's half. @hash is that of all these rows,
 * and starts as 0. Return: 0 if no node can be made: there are too many nodes or rows, or too
 * many nodes of this hash.
 */
u32 kuw_runs_child(struct kuw_runs *r, u32 parent, u32 step, u64 *hash);

/*
 * Choose the runs of the table. @intern's rules have counted rows that are alone, and nodes
 * have counted the others. Afterwards, rules and nodes have the uses of their entries. @sort
 * lends its counts, and @pairs is room to sort all nodes.
 */
void kuw_runs_choose(struct kuw_runs *r, const struct kuw_intern *intern,
		     struct kuw_sort *sort, struct kuw_pair *pairs);

/* Write the runs into the table, whose rules have their ranks. */
void kuw_runs_write(const struct kuw_runs *r, const struct kuw_intern *intern,
		    struct kuw_table *table);

#endif /* KUW_RUNS_H */

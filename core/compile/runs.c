// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Runs. Compilers write the same prologues and epilogues over and over, so a few hundred
 * sequences of rows make up more than half of the rows of a file. table.h says how runs are
 * stored.
 *
 * Each start of a sequence is a node of a tree. The node counts how often rows reach it.
 * From the leaves to the root, a node becomes a run if that saves more than it costs. The
 * sequences that the run covers do not count for its parents.
 */
#include "runs.h"
#include "budgets.h"

int kuw_runs_init(struct kuw_runs *r, u32 nr_rows)
{
	u32 slots = 256;

	r->max_nodes = min_t(u32, KUW_MAX_RUN_NODES, slots + nr_rows / 8);
	while (slots < r->max_nodes)
		slots *= 2;
	if (!kuw_area_room(r->areas, KUW_AREA_NODES, (u64)r->max_nodes * sizeof(*r->nodes)) ||
	    !kuw_area_room(r->areas, KUW_AREA_SLOTS, slots * sizeof(*r->slots)))
		return -ENOSPC;
	r->nodes = kuw_area(r->areas, KUW_AREA_NODES);
	r->slots = kuw_area(r->areas, KUW_AREA_SLOTS);
	memset(r->nodes, 0, sizeof(*r->nodes));
	memset(r->slots, 0, slots * sizeof(*r->slots));
	r->mask = slots - 1;
	r->nr_nodes = 1;
	return 0;
}

static u32 grow(struct kuw_runs *r, u64 key, u16 *slot)
{
	struct kuw_node *node = &r->nodes[r->nr_nodes];
	u32 parent = key >> 32;

	if (r->nr_nodes == r->max_nodes || r->nodes[parent].depth == KUW_RUN_ROWS)
		return 0;
	memset(node, 0, sizeof(*node));
	node->key = key;
	node->depth = r->nodes[parent].depth + 1;
	node->span = r->nodes[parent].span + kuw_node_delta(node);
	/* The node that was seen first is seen most: it stays the first of its slot. */
	if (*slot) {
		node->next = r->nodes[*slot].next;
		r->nodes[*slot].next = r->nr_nodes;
	} else {
		*slot = r->nr_nodes;
	}
	return r->nr_nodes++;
}

u32 kuw_runs_child(struct kuw_runs *r, u32 parent, u32 step, u64 *hash)
{
	u64 key = (u64)parent << 32 | step;
	u32 tries = KUW_MAX_RUN_TRIES, i;
	u16 *slot;

	*hash = (*hash ^ step) * KUW_MIX;
	slot = &r->slots[(u32)(*hash >> 32) & r->mask];
	for (i = *slot; i; i = r->nodes[i].next) {
		if (likely(r->nodes[i].key == key))
			return i;
		if (!--tries)
			return 0;
	}
	return grow(r, key, slot);
}

/* Whether a run saves more than twice its bytes: it saves two for each row after the first. */
static bool pays(const struct kuw_node *node, u32 uses)
{
	u64 saved = 2ULL * uses * (node->depth - 1);
	u32 cost = sizeof(u16) + node->depth * (sizeof(u16) + sizeof(u8));

	return saved > 2 * cost;
}

/* @node is no run after all: encode its rows one by one. */
static void dissolve(struct kuw_runs *r, const struct kuw_intern *intern,
		     struct kuw_node *node)
{
	struct kuw_ruleset *rules = kuw_area(intern->areas, KUW_AREA_RULES);
	struct kuw_node *nodes = r->nodes;
	u32 uses = node->uses;

	node->take = 0;
	for (; node->depth; node = &nodes[kuw_node_parent(node)])
		rules[kuw_node_rule(node)].uses += uses;
}

/* Number the runs by use; @pairs is room for sorting. */
static void rank_runs(struct kuw_runs *r, const struct kuw_intern *intern,
		      struct kuw_sort *sort, struct kuw_pair *pairs)
{
	struct kuw_ruleset *rules = kuw_area(intern->areas, KUW_AREA_RULES);
	struct kuw_node *nodes = r->nodes, *node;
	u32 i, n = 0;

	for (i = 1; i < r->nr_nodes; i++) {
		if (!nodes[i].take)
			continue;
		pairs[n].key = ~nodes[i].uses;
		pairs[n++].value = i;
	}
	kuw_sort_all(sort, pairs, n);
	r->nr_runs = 0;
	r->nr_run_rows = 0;
	for (i = 0; i < n; i++) {
		node = &nodes[pairs[i].value];
		/* A long code takes the places of two rows. */
		if (r->nr_runs >= KUW_CODE_LONG - KUW_CODE_RUN &&
		    node->depth == 2) {
			dissolve(r, intern, node);
			continue;
		}
		node->run = r->nr_runs++;
		r->nr_run_rows += node->depth;
		/* The rules of a run need numbers, even if no single row has them. */
		for (; node->depth; node = &nodes[kuw_node_parent(node)])
			rules[kuw_node_rule(node)].rank = 1;
	}
}

void kuw_runs_choose(struct kuw_runs *r, const struct kuw_intern *intern,
		     struct kuw_sort *sort, struct kuw_pair *pairs)
{
	struct kuw_ruleset *rules = kuw_area(intern->areas, KUW_AREA_RULES);
	struct kuw_node *nodes = r->nodes, *node, *parent;
	u32 i, uses, rows = 0;

	/* A single row counts for its rule, all others for one node. */
	r->nr_rows = 0;
	for (i = 0; i < intern->nr_rules; i++)
		r->nr_rows += rules[i].uses;
	/* Children have greater numbers. */
	for (i = r->nr_nodes - 1; i; i--) {
		node = &nodes[i];
		uses = node->uses - node->covered;
		nodes[kuw_node_parent(node)].uses += node->uses;
		r->nr_rows += node->uses;
		nodes[kuw_node_parent(node)].covered += node->covered;
		/* Rows and rules of runs have 16 bits. */
		if (node->depth > 1 && pays(node, uses) &&
		    rows + node->depth + intern->nr_rules <= U16_MAX) {
			node->take = node->depth;
			nodes[kuw_node_parent(node)].covered += uses;
			rows += node->depth;
		} else {
			rules[kuw_node_rule(node)].uses += uses;
		}
		node->uses = uses;
	}
	rank_runs(r, intern, sort, pairs);
	for (i = 1; i < r->nr_nodes; i++) {
		node = &nodes[i];
		parent = &nodes[kuw_node_parent(node)];
		if (node->take)
			continue;
		node->take = parent->take;
		node->run = parent->run;
	}
}

void kuw_runs_write(const struct kuw_runs *r, const struct kuw_intern *intern,
		    struct kuw_table *table)
{
	const struct kuw_ruleset *rules = kuw_area(intern->areas, KUW_AREA_RULES);
	const struct kuw_node *nodes = r->nodes, *node;
	u16 *firsts = (u16 *)((u8 *)table + table->runs_off);
	u16 *run_rules = firsts + table->nr_runs + 1;
	u8 *offsets = (u8 *)(run_rules + table->nr_run_rows);
	u32 i, k, at, first = 0;

	/* Lengths first, then sums: nodes are not in the order of the runs' numbers. */
	for (i = 1; i < r->nr_nodes; i++)
		if (nodes[i].take == nodes[i].depth)
			firsts[nodes[i].run] = nodes[i].depth;
	for (i = 0; i <= table->nr_runs; i++) {
		at = firsts[i];
		firsts[i] = first;
		first += at;
	}
	for (i = 1; i < r->nr_nodes; i++) {
		if (nodes[i].take != nodes[i].depth)
			continue;
		at = 0;
		node = &nodes[i];
		for (k = firsts[node->run + 1]; node->depth; node = &nodes[kuw_node_parent(node)]) {
			run_rules[--k] = rules[kuw_node_rule(node)].rank;
			offsets[k] = at;
			at += kuw_node_delta(node);
		}
		for (k = firsts[nodes[i].run]; k < firsts[nodes[i].run + 1]; k++)
			offsets[k] = at - offsets[k];
	}
}

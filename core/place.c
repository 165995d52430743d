// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Put rows in the order of their addresses, FDE by FDE, and find what may be a run. */
#include "compile.h"
#include "limits.h"

/* Rows are in the order in which their FDEs were found: prefetch those of this FDE ahead. */
#define FETCH_AHEAD	8
/* Rows to check at once, as they are nearly always in one block. */
#define TOGETHER	16

/* Return: whether there is room for the rows of one more FDE. */
static bool rows_room(struct kuw_compile *c)
{
	/* One more than its rows: put_fde() may put a row before them for a gap. */
	return kuw_compile_room(c, KUW_AREA_ROWS,
				((u64)c->nr_placed + c->longest + 1) * sizeof(u64));
}

int kuw_place_init(struct kuw_compile *c)
{
	struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem;

	if (!rows_room(c) || kuw_runs_init(c))
		return -ENOSPC;
	/* A sentinel after the last FDE, in the area's second half, which sorting has left. */
	fdes[c->nr_fdes].key = ~0u;
	c->last_rule = 0;
	c->last_off = ~0u;
	return 0;
}

/* Return: bytes of a row, if @left bytes of the FDE are left. Sets *@row to its last word. */
static __always_inline u32 row_len(const u32 **row, u32 left)
{
	u32 len = kuw_found_len(*row);

	if (len <= KUW_RUN_NEAR)
		return len;
	if (len == KUW_FOUND_LAST)
		return left;
	return unlikely(len == KUW_FOUND_LONG) ? *++*row : len;
}

/*
 * Find or make the node of the rows from *@off on, as far as they may be a run and start
 * before @stop. Their FDE ends at @end; the first row has few bytes. Return: the node, with
 * *@row and *@off after its rows; 0 if the first row stays alone, with both unchanged.
 */
static __always_inline u32 take_run(struct kuw_compile *c, struct kuw_tree tree,
				    const u32 **row, u32 *off, u32 end, u32 stop)
{
	const u32 *word = *row;
	u32 at = *off, len = row_len(&word, end - at);
	/* A run is in one bucket. */
	u32 last = min_t(u32, stop - 1, at | ((1u << KUW_BUCKET_SHIFT) - 1));
	u64 above = 0, hash = 0, step = kuw_found_rule(word) << 16, child;

	for (;;) {
		child = kuw_runs_child(tree, above, step, &hash);
		if (unlikely(child & ~KUW_SLOT_NODE)) {
			above = kuw_runs_grow(c, child, hash);
			if (above & KUW_RUNS_FULL)
				break;
		} else {
			above = child << 16;
		}
		at += len;
		word++;
		if (at > last)
			break;
		step = kuw_found_step(word);
		len = kuw_found_len(word);
		if (len > KUW_RUN_NEAR) {
			if (len != KUW_FOUND_LAST || end - at > KUW_RUN_NEAR)
				break;
			len = end - at;
		}
	}
	*row = word;
	*off = at;
	return kuw_runs_node(above);
}

/*
 * The state from one FDE to the next, on the stack of kuw_place_rows().
 * @to: the end of the rows that have been put
 * @found: KUW_AREA_FOUND
 * @rules: KUW_AREA_RULES
 * @nodes: kuw_row() of the number from which nodes count
 * @covered: where the previous FDE ends
 * @rule: its last rule
 */
struct place {
	u64 *to;
	const u32 *found;
	struct kuw_ruleset *rules;
	u64 nodes;
	u32 covered;
	u32 rule;
};

/* Put the rows of an FDE after the others. */
static __always_inline void put_fde(struct kuw_compile *c, struct place *p,
				    struct kuw_tree tree, const struct kuw_pair *fde)
{
	const u32 *head = p->found + fde->value, *row = head + 1;
	/* Where FDEs overlap, the one that starts last is right (libgcc). */
	u32 off = fde->key, end = off + *head, stop = min_t(u32, end, fde[1].key);
	const u32 *word;
	u32 rule = 0, node;

	if (stop == off)
		return;
	/* Padding before an aligned function never runs. Count it to the function before, which
	 * saves a row for each function. Aligned code without an FDE has at least 16 bytes, so it
	 * is a gap. (The FDE of a signal frame starts a byte before its code.)
	 */
	if (p->covered < off && p->rule &&
	    (off - p->covered >= KUW_FDE_ALIGN ||
	     (off + p->rules[kuw_found_rule(row)].signal) % KUW_FDE_ALIGN)) {
		*p->to++ = kuw_row(p->covered, 0);
		p->rule = 0;
		p->rules[0].uses++;
	}
	/* If the previous FDE ended with the first rule of this one, its last row goes on. */
	if (kuw_found_rule(row) == p->rule) {
		rule = p->rule;
		off += row_len(&row, end - off);
		row++;
	}
	for (; off < stop; p->to++) {
		*p->to = kuw_row(off, 0);
		node = 0;
		word = row;
		/* Long rows, bodies of functions, stay rows: walks look up mostly these. */
		if (row_len(&word, end - off) <= KUW_RUN_NEAR)
			node = take_run(c, tree, &row, &off, end, stop);
		if (node) {
			*p->to += kuw_row(0, node) + p->nodes;
			tree.nodes[node].uses++;
			rule = kuw_found_rule(row - 1);
		} else {
			rule = kuw_found_rule(row);
			*p->to += kuw_row(0, rule);
			p->rules[rule].uses++;
			off += row_len(&row, end - off);
			row++;
		}
	}
	p->rule = rule;
	p->covered = stop;
}

/* Return: whether @row is in another block than the last row that was checked. */
static bool other_block(const struct kuw_compile *c, u64 row)
{
	return (c->last_off ^ kuw_row_off(row)) >> KUW_BLOCK_SHIFT;
}

/* Count the blocks in which rows start. */
static void count_chunks(struct kuw_compile *c, const u64 *rows, const u64 *end)
{
	while (rows < end) {
		/* Rows are sorted, so the rows in between are in the same block. */
		if (end - rows >= TOGETHER && !other_block(c, rows[TOGETHER - 1])) {
			rows += TOGETHER;
			continue;
		}
		c->nr_chunks += other_block(c, *rows);
		c->last_off = kuw_row_off(*rows++);
	}
}

int kuw_place_rows(struct kuw_compile *c)
{
	const struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem;
	const struct kuw_tree tree = kuw_runs_tree(c);
	u64 *rows = c->areas[KUW_AREA_ROWS].mem;
	struct place p = {
		.to = rows + c->nr_placed,
		.found = c->areas[KUW_AREA_FOUND].mem,
		.rules = c->areas[KUW_AREA_RULES].mem,
		.nodes = kuw_row(0, c->nr_rules),
		.covered = c->covered,
		.rule = c->last_rule,
	};
	const struct kuw_pair *fde = fdes + c->pos;
	const struct kuw_pair *end = fde + min_t(u32, c->nr_fdes - c->pos, KUW_BATCH_FDES);
	const struct kuw_pair *fetch = fdes + c->nr_fdes - min_t(u32, c->nr_fdes, FETCH_AHEAD);
	const u64 *enough;

	if (!rows_room(c))
		return -ENOSPC;
	/* Before here, there is room for one more FDE. */
	enough = rows + min_t(u64, c->nr_placed + KUW_BATCH_ROWS / KUW_RUN_ROWS,
			      c->areas[KUW_AREA_ROWS].bytes / sizeof(u64) - c->longest);
	for (; fde < end && p.to < enough; fde++) {
		if (fde < fetch)
			__builtin_prefetch(p.found + fde[FETCH_AHEAD].value);
		put_fde(c, &p, tree, fde);
	}
	count_chunks(c, rows + c->nr_placed, p.to);
	c->pos = fde - fdes;
	c->nr_placed = p.to - rows;
	c->covered = p.covered;
	c->last_rule = p.rule;
	return c->pos < c->nr_fdes ? KUW_AGAIN : 0;
}

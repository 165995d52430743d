// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Put rows in the order of their addresses, FDE by FDE, and find what may be a run. */
#include "place.h"
#include "budgets.h"

/* Return: whether there is room for the rows of one more FDE. */
static bool rows_room(struct kuw_place *p)
{
	/* One more than its rows: put_fde() may put a row before them for a gap. */
	return kuw_area_room(p->areas, KUW_AREA_ROWS,
			     ((u64)p->nr_rows + p->found->longest + 1) * sizeof(u64));
}

int kuw_place_init(struct kuw_place *p)
{
	p->areas->least[KUW_AREA_ROWS] = p->found->nr_rows * (sizeof(u64) / 2);
	if (!rows_room(p) || kuw_runs_init(p->runs, p->found->nr_rows + p->nr_fdes))
		return -ENOSPC;
	/* A sentinel after the last FDE. */
	p->fdes[p->nr_fdes].key = ~0u;
	p->last_off = ~0u;
	return 0;
}

/* Return: bytes of a row, if @left bytes of the FDE are left. Sets *@row to its last word. */
static u32 row_len(const u32 **row, u32 left)
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
static u32 take_run(struct kuw_runs *runs, const u32 **row, u32 *off, u32 end, u32 stop)
{
	const u32 *word = *row;
	u32 at = *off, len = row_len(&word, end - at);
	u32 step = kuw_found_rule(word) << 16, node = 0, child;
	/* A run is in one bucket. */
	u32 last = min_t(u32, stop - 1, at | ((1u << KUW_BUCKET_SHIFT) - 1));
	u64 hash = 0;

	while (len <= KUW_RUN_NEAR) {
		child = kuw_runs_child(runs, node, step, &hash);
		if (!child)
			break;
		node = child;
		at += len;
		*row = ++word;
		*off = at;
		if (at > last)
			break;
		step = kuw_found_step(word);
		len = row_len(&word, end - at);
	}
	return node;
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
struct state {
	u64 *to;
	const u32 *found;
	struct kuw_ruleset *rules;
	u64 nodes;
	u32 covered;
	u32 rule;
};

/* Put the rows of an FDE after the others. */
static void put_fde(struct kuw_runs *runs, struct state *p, const struct kuw_pair *fde)
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
			node = take_run(runs, &row, &off, end, stop);
		if (node) {
			*p->to += kuw_row(0, node) + p->nodes;
			runs->nodes[node].uses++;
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
static bool other_block(const struct kuw_place *p, u64 row)
{
	return (p->last_off ^ kuw_row_off(row)) >> KUW_BLOCK_SHIFT;
}

/* Count the blocks in which rows start. */
static void count_chunks(struct kuw_place *p, const u64 *rows, const u64 *end)
{
	for (; rows < end; rows++) {
		p->nr_chunks += other_block(p, *rows);
		p->last_off = kuw_row_off(*rows);
	}
}

int kuw_place_rows(struct kuw_place *p)
{
	u64 *rows = kuw_area(p->areas, KUW_AREA_ROWS);
	struct state s = {
		.to = rows + p->nr_rows,
		.found = kuw_area(p->areas, KUW_AREA_FOUND),
		.rules = kuw_area(p->areas, KUW_AREA_RULES),
		.nodes = kuw_row(0, p->intern->nr_rules),
		.covered = p->end,
		.rule = p->last_rule,
	};
	const struct kuw_pair *fde = p->fdes + p->pos;
	const struct kuw_pair *end = fde + min_t(u32, p->nr_fdes - p->pos, KUW_BATCH_FDES);
	const u64 *enough;

	if (!rows_room(p))
		return -ENOSPC;
	/* Before here, there is room for one more FDE. */
	enough = rows + min_t(u64, p->nr_rows + KUW_BATCH_ROWS / KUW_RUN_ROWS,
			      p->areas->area[KUW_AREA_ROWS].bytes / sizeof(u64) -
			      p->found->longest);
	for (; fde < end && s.to < enough; fde++)
		put_fde(p->runs, &s, fde);
	count_chunks(p, rows + p->nr_rows, s.to);
	p->pos = fde - p->fdes;
	p->nr_rows = s.to - rows;
	p->end = s.covered;
	p->last_rule = s.rule;
	return p->pos < p->nr_fdes ? KUW_AGAIN : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Rows are put in the order of addresses, FDE by FDE, and what may be a run is found. */
#include "compile.h"
#include "limits.h"

/* FDEs are found in another order than they lie in: fetch their rows in time. */
#define FETCH_AHEAD	8

/* Return: whether there is room for the rows of one more FDE. */
static bool rows_room(struct kuw_compile *c)
{
	/* Before them, one may say that there is none. */
	return kuw_compile_room(c, KUW_AREA_ROWS,
				((u64)c->nr_placed + c->longest + 1) * sizeof(u64));
}

int kuw_place_init(struct kuw_compile *c)
{
	if (!rows_room(c) || kuw_runs_init(c))
		return -ENOSPC;
	c->last_rule = 0;
	c->last_off = ~0u;
	return 0;
}

/* Go to the next row of an FDE of which @left bytes are left. Return: its length. */
static __always_inline u32 take_row(const u32 **row, u32 left, u32 *rule)
{
	u32 word = *(*row)++, len = kuw_found_len(word);

	*rule = kuw_found_rule(word);
	if (len == KUW_FOUND_LAST)
		return left;
	if (unlikely(len == KUW_FOUND_LONG))
		return *(*row)++;
	return len;
}

/*
 * Find out what the rows from *@off on are together, of an FDE that ends at @end, up to
 * @stop. Return: their node, with the last one's @rule; or 0 if the first row stays
 * alone, and *@row and *@off are where they were.
 */
static __always_inline u32 take_run(struct kuw_compile *c, const struct kuw_tree *tree,
				    const u32 **row, u32 *off, u32 end, u32 stop, u32 *rule)
{
	u32 at = *off, len, step, next;
	const u32 *word = *row, *head = word;
	/* A run lies in one bucket. */
	u32 last = min_t(u32, stop - 1, at | ((1u << KUW_BUCKET_SHIFT) - 1));
	u64 node = 0, hash = 0, found;

	step = kuw_found_rule(*word) << 16;
	for (;;) {
		len = kuw_found_len(*word);
		if (len - 1 >= KUW_RUN_NEAR) {
			if (len != KUW_FOUND_LAST || end - at > KUW_RUN_NEAR)
				break;
			len = end - at;
		}
		found = kuw_runs_child(tree, node, step, &hash);
		if (unlikely(found > U16_MAX)) {
			next = kuw_runs_grow(c, tree, node, step, hash);
			if (!next)
				break;
			found = next;
		}
		node = found;
		at += len;
		word++;
		if (at > last)
			break;
		step = kuw_found_step(word);
	}
	if (word == head)
		return 0;
	*rule = kuw_found_rule(word[-1]);
	*row = word;
	*off = at;
	return node;
}

/*
 * What is at hand from an FDE to the next.
 * @to: where the rows end that have been put
 * @found: words as found
 * @last: the last FDE
 * @covered: where the FDE before ends
 * @rule: its last one
 */
struct place {
	u64 *to;
	const u32 *found;
	struct kuw_ruleset *rules;
	const struct kuw_pair *last;
	u32 covered;
	u32 rule;
};

/* Put the rows of an FDE behind the others. */
static __always_inline void put_fde(struct kuw_compile *c, struct place *p,
				    const struct kuw_tree *tree, const struct kuw_pair *fde)
{
	const u32 *row = p->found + p->found[fde->value];
	u32 off = fde->key, end = off + p->found[fde->value + 1], stop = end;
	u32 rule = 0, node, head;

	/* Where FDEs overlap, the one that begins last is right (libgcc). */
	if (fde < p->last) {
		stop = min_t(u32, end, fde[1].key);
		if (stop == off)
			return;
	}
	/* Padding before an aligned function is never run. It belongs to the
	 * function before, which saves a row for each function; code without an
	 * FDE that is itself aligned needs 16 bytes at least. (The FDE of a signal
	 * frame begins a byte before its code.)
	 */
	if (p->covered < off && p->rule &&
	    (off - p->covered >= KUW_FDE_ALIGN ||
	     (off + p->rules[kuw_found_rule(*row)].signal) % KUW_FDE_ALIGN)) {
		*p->to++ = kuw_row(p->covered, 0);
		p->rule = 0;
		p->rules[0].uses++;
	}
	/* The one before may end with the rule that this one begins with. */
	if (kuw_found_rule(*row) == p->rule)
		off += take_row(&row, end - off, &rule);
	while (off < stop) {
		head = off;
		node = 0;
		/* Bodies of functions stay rows: that is where walks look. */
		if (kuw_found_len(*row) <= KUW_RUN_NEAR)
			node = take_run(c, tree, &row, &off, end, stop, &rule);
		if (node) {
			*p->to++ = kuw_row(head, c->nr_rules + node);
			tree->nodes[node].uses++;
		} else {
			off += take_row(&row, end - off, &rule);
			*p->to++ = kuw_row(head, rule);
			p->rules[rule].uses++;
		}
	}
	p->rule = rule;
	p->covered = stop;
}

/* Count the blocks in which the rows of an FDE begin. */
static void count_chunks(struct kuw_compile *c, const u64 *rows, const u64 *end)
{
	u32 off;

	/* Nearly always it lies in the block that the one before ended in. */
	if (rows == end || !((c->last_off ^ kuw_row_off(end[-1])) >> KUW_BLOCK_SHIFT))
		return;
	for (; rows < end; rows++) {
		off = kuw_row_off(*rows);
		c->nr_chunks += (c->last_off ^ off) >> KUW_BLOCK_SHIFT != 0;
		c->last_off = off;
	}
}

int kuw_place_rows(struct kuw_compile *c)
{
	const struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem;
	const struct kuw_tree tree = kuw_runs_tree(c);
	u64 *rows = c->areas[KUW_AREA_ROWS].mem, *from;
	struct place p = {
		.to = rows + c->nr_placed,
		.found = c->areas[KUW_AREA_FOUND].mem,
		.rules = c->areas[KUW_AREA_RULES].mem,
		.last = fdes + c->nr_fdes - 1,
		.covered = c->covered,
		.rule = c->last_rule,
	};
	u32 i = c->pos, end = min_t(u64, c->nr_fdes, (u64)i + KUW_BATCH_FDES);
	const u64 *enough;

	if (!rows_room(c))
		return -ENOSPC;
	/* Before here, there is room for one FDE more. */
	enough = rows + min_t(u64, c->nr_placed + KUW_BATCH_ROWS / KUW_RUN_ROWS,
			      c->areas[KUW_AREA_ROWS].bytes / sizeof(u64) - c->longest);
	for (; i < end && p.to < enough; i++) {
		if (c->nr_fdes - i > FETCH_AHEAD)
			__builtin_prefetch(p.found + fdes[i + FETCH_AHEAD].value);
		from = p.to;
		put_fde(c, &p, &tree, &fdes[i]);
		count_chunks(c, from, p.to);
	}
	c->pos = i;
	c->nr_placed = p.to - rows;
	c->covered = p.covered;
	c->last_rule = p.rule;
	return i < c->nr_fdes ? KUW_AGAIN : 0;
}

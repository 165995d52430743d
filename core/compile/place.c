// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Put rows in the order of their addresses, FDE by FDE, and make pairs of them. */
#include "place.h"
#include "budgets.h"

/* Return: whether there is room for the rows of one more FDE. */
static bool entries_room(struct kuw_place *p)
{
	/* One more than its rows: put_fde() may put a row before them for a gap. */
	return kuw_area_room(p->scan->areas, KUW_AREA_ENTRIES,
			     ((u64)p->nr_entries + p->scan->found.longest + 1) * sizeof(u64));
}

int kuw_place_init(struct kuw_place *p)
{
	struct kuw_item *fdes = kuw_area(p->scan->areas, KUW_AREA_FDES);

	p->scan->areas->least[KUW_AREA_ENTRIES] = p->scan->found.nr_rows * (sizeof(u64) / 2);
	/* The first entry: no FDE. */
	p->nr_entries = 1;
	p->nr_places = 1;
	p->nr_blocks = 1;
	if (!entries_room(p))
		return -ENOSPC;
	*(u64 *)kuw_area(p->scan->areas, KUW_AREA_ENTRIES) = p->last;
	/* A sentinel after the last FDE. */
	fdes[p->scan->nr_fdes].key = ~0u;
	return 0;
}

/* The state from one FDE to the next, on the stack of kuw_place_rows(). */
struct state {
	const struct kuw_pairs *pairs;
	const u32 *codes;
	const struct kuw_ruleset *rules;
	const struct kuw_regset *sets;
	u64 *to;		/* the end of the entries that have been put */
	u64 last;		/* the last of them; at first entry 0, whose rule is in no pair */
	u32 nr_places;		/* these three as in struct kuw_place */
	u32 nr_blocks;
	u32 nr_rows;
	u32 covered;		/* where the previous FDE ends */
	u32 rule;		/* its last rule */
};

/* Put a row, of @len bytes: as an entry, or into the last one. */
static inline void put(struct state *p, u32 off, u32 rule, u32 len)
{
	u32 code = p->codes[rule], before = kuw_entry_code(p->last), both;
	u32 start = kuw_entry_off(p->last);

	p->nr_rows++;
	if (len <= KUW_PAIR_NEAR && !((off ^ start) >> KUW_BUCKET_SHIFT) &&
	    (before | code) <= U8_MAX) {
		both = kuw_pairs_find(p->pairs, kuw_pair(before, code, off - start));
		if (both) {
			p->last = kuw_entry(start, both);
			p->to[-1] = p->last;
			return;
		}
	}
	p->last = kuw_entry(off, code);
	*p->to++ = p->last;
	p->nr_places += kuw_code_places(code);
	p->nr_blocks += (off ^ start) >> KUW_BLOCK_SHIFT != 0;
}

/* Return: bytes of a row, if @left bytes of the FDE are left. Sets *@row to its last word. */
static u32 row_len(const u32 **row, u32 left)
{
	u32 len = kuw_found_len(*row);

	if (len == KUW_FOUND_LAST)
		return left;
	return len == KUW_FOUND_LONG ? *++*row : len;
}

/*
 * Padding before an aligned function never runs. To count it to the function before saves a row
 * for most functions. Return: whether the @len bytes before the FDE at @off may be code instead.
 *
 * Code without an FDE may be shorter than KUW_LEAST_CODE, but a rule that ends stacks must not end
 * those of other code. (The FDE of a signal frame starts a byte before its code.)
 */
static bool may_be_code(const struct state *p, u32 len, u32 off, u32 signal)
{
	const struct kuw_regset *regs = &p->sets[p->rules[p->rule].regs];

	return len >= KUW_LEAST_CODE || (off + signal) % KUW_FDE_ALIGN ||
	       kuw_loc_how(regs->reg[KUW_RA]) == KUW_UNDEF;
}

/* Put the rows of an FDE after the others. */
static void put_fde(struct state *p, const struct kuw_item *fde, const u32 *head)
{
	const u32 *row = head + 1;
	/* Where FDEs overlap, the one that starts last is right (libgcc). */
	u32 off = fde->key, end = off + *head, stop = min_t(u32, end, fde[1].key), rule, len;

	if (stop == off)
		return;
	if (p->covered < off && p->rule &&
	    may_be_code(p, off - p->covered, off, p->rules[kuw_found_rule(row)].signal)) {
		put(p, p->covered, 0, off - p->covered);
		p->rule = 0;
	}
	for (; off < stop; row++) {
		rule = kuw_found_rule(row);
		len = row_len(&row, end - off);
		/* If the previous FDE ended with the first rule of this one, its row goes on. */
		if (rule != p->rule)
			put(p, off, rule, len);
		p->rule = rule;
		off += len;
	}
	p->covered = stop;
}

int kuw_place_rows(struct kuw_place *p)
{
	const struct kuw_item *fdes = kuw_area(p->scan->areas, KUW_AREA_FDES);
	const u32 *found = kuw_area(p->scan->areas, KUW_AREA_FOUND);
	u64 *entries = kuw_area(p->scan->areas, KUW_AREA_ENTRIES);
	struct state s = {
		.pairs = p->pairs,
		.codes = kuw_area(p->scan->areas, KUW_AREA_CODES),
		.rules = kuw_area(p->scan->areas, KUW_AREA_RULES),
		.sets = kuw_area(p->scan->areas, KUW_AREA_REGS),
		.to = entries + p->nr_entries,
		.last = p->last,
		.nr_places = p->nr_places,
		.nr_blocks = p->nr_blocks,
		.nr_rows = p->nr_rows,
		.covered = p->end,
		.rule = p->last_rule,
	};
	const struct kuw_item *fde = fdes + p->pos;
	const struct kuw_item *end = fde + min_t(u32, p->scan->nr_fdes - p->pos, KUW_BATCH_FDES);
	const u32 enough = p->nr_rows + KUW_BATCH_ROWS;
	const u64 *last;

	if (!entries_room(p))
		return -ENOSPC;
	/* Before here, there is room for one more FDE. */
	last = entries + p->scan->areas->area[KUW_AREA_ENTRIES].bytes / sizeof(u64) -
	       p->scan->found.longest;
	for (; fde < end && s.to < last && s.nr_rows < enough; fde++)
		put_fde(&s, fde, found + fde->value);
	p->pos = fde - fdes;
	p->nr_entries = s.to - entries;
	p->last = s.last;
	p->nr_places = s.nr_places;
	p->nr_blocks = s.nr_blocks;
	p->nr_rows = s.nr_rows;
	p->end = s.covered;
	p->last_rule = s.rule;
	return p->pos < p->scan->nr_fdes ? KUW_AGAIN : 0;
}

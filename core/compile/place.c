// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Put rows in the order of their addresses, FDE by FDE, and make entries of them. */
#include "place.h"
#include "budgets.h"

/* The most cells of an entry. */
#define MAX_CELLS	3

/* Return: the words of the index of so many bytes of text. */
static u32 nr_index(u32 span)
{
	return ((span - 1) >> KUW_BUCKET_SHIFT) + 2;
}

static int index_room(struct kuw_place *p, u32 words)
{
	return kuw_area_room(p->scan->areas, KUW_AREA_INDEX, words * (u64)sizeof(u32));
}

/*
 * Index the buckets before @end: what is added from now on is not in them. Return: 0, or an error
 * of the caller's functions.
 */
static int index_to(struct kuw_place *p, u32 end)
{
	int ret = index_room(p, end);
	u32 *index = kuw_area(p->scan->areas, KUW_AREA_INDEX);

	while (!ret && p->nr_index < end) {
		index[p->nr_index++] = p->nr_cells;
		ret = kuw_pause_after(p->scan->areas, 1);
	}
	return ret;
}

/* Add an entry. Return: 0, or an error of the caller's functions. */
static int add(struct kuw_place *p, u32 off, u32 code)
{
	u32 bucket = off >> KUW_BUCKET_SHIFT;
	struct kuw_cell *cells;
	int ret;

	ret = kuw_area_room(p->scan->areas, KUW_AREA_CELLS,
			    (p->nr_cells + (u64)MAX_CELLS) * sizeof(*cells));
	if (!ret && p->nr_index <= bucket)
		ret = index_to(p, bucket + 1);
	if (ret)
		return ret;
	cells = kuw_area(p->scan->areas, KUW_AREA_CELLS);
	p->last_off = off;
	p->last_code = code;
	do
		cells[p->nr_cells++] = (struct kuw_cell){ off, code };
	while (code >>= 8);
	return 0;
}

/*
 * Put a row, of @len bytes: as an entry, or, unless it shall be @apart, into the last one. Return:
 * 0, or an error of the caller's functions.
 */
static int put(struct kuw_place *p, u32 off, u32 rule, u32 len, bool apart)
{
	const struct kuw_ruleset *rules = kuw_area(p->scan->areas, KUW_AREA_RULES);
	struct kuw_cell *cells = kuw_area(p->scan->areas, KUW_AREA_CELLS);
	u32 code = rules[rule].code, both = 0;

	p->nr_rows++;
	if (!apart && len <= KUW_PAIR_NEAR && !((off ^ p->last_off) >> KUW_BUCKET_SHIFT) &&
	    (p->last_code | code) <= U8_MAX)
		both = kuw_pairs_find(p->rank, kuw_pair(p->last_code, code, off - p->last_off));
	if (!both)
		return add(p, off, code);
	p->last_code = both;
	cells[p->nr_cells - 1].code = both;
	return 0;
}

/* Return: whether a rule ends stacks. */
static bool is_end(const struct kuw_place *p, u32 rule)
{
	const struct kuw_ruleset *rules = kuw_area(p->scan->areas, KUW_AREA_RULES);

	return kuw_intern_get(p->scan->intern, rules[rule].regs, KUW_RA).how == KUW_UNDEF;
}

/*
 * Padding before an aligned function never runs. To count it to the function before saves a row
 * for most functions. Return: whether the @len bytes before the FDE at @off may be code instead.
 *
 * Code without an FDE may be shorter than KUW_LEAST_CODE, but a rule that ends stacks must not end
 * those of other code. (The FDE of a signal frame starts a byte before its code.)
 */
static bool may_be_code(const struct kuw_place *p, u32 len, u32 off, u32 first)
{
	const struct kuw_ruleset *rules = kuw_area(p->scan->areas, KUW_AREA_RULES);

	return len >= KUW_LEAST_CODE || (off + rules[first].signal) % KUW_FDE_ALIGN ||
	       is_end(p, p->last_rule);
}

/* Put the rows of an FDE after the others. Return: 0, or an error of the caller's functions. */
static int put_fde(struct kuw_place *p, const struct kuw_item *fde, const u32 *head)
{
	const u32 *row = head + 1;
	/* Where FDEs overlap, the one that starts last is right (libgcc). */
	u32 off = fde->key, stop = min_t(u32, off + *head, fde[1].key), rule, len;
	/*
	 * What is right behind a function's end need not be behind a call, nor what is a byte
	 * behind the start of one that ends stacks: kuw_is_called().
	 */
	bool apart = off % KUW_FDE_ALIGN || is_end(p, kuw_found_rule(row));
	int ret = 0;

	if (p->end < off && p->last_rule &&
	    may_be_code(p, off - p->end, off, kuw_found_rule(row))) {
		ret = put(p, p->end, 0, off - p->end, false);
		p->last_rule = 0;
	}
	while (!ret && off < stop) {
		rule = kuw_found_rule(row);
		len = kuw_found_next(&row);
		/* If the previous FDE ended with the first rule of this one, its row goes on. */
		if (apart || rule != p->last_rule)
			ret = put(p, off, rule, len, apart);
		apart = false;
		p->last_rule = rule;
		off += len;
	}
	p->end = stop;
	return ret;
}

/*
 * Return: the rows of FDE @i. BOLT changes functions where they are, and leaves their old FDEs
 * behind all new ones. So of those that start at one address, the first of the file is right. But
 * where a function has become too long for its place, BOLT has left it as it was, and the last one
 * is right.
 */
static const u32 *right_of(const struct kuw_item *fdes, u32 i, const u32 *found)
{
	const struct kuw_item *fde = &fdes[i];
	const u32 *first = found + fde->value;

	if (i && fde[-1].key == fde->key && *first > fde[1].key - fde->key)
		return found + fde[-1].value;
	return first;
}

int kuw_place(struct kuw_place *p)
{
	struct kuw_item first, *fdes = kuw_area(p->scan->areas, KUW_AREA_FDES);
	const u32 *found = kuw_area(p->scan->areas, KUW_AREA_FOUND);
	u32 i, rows;
	int ret;

	/* A sentinel after the last FDE. */
	fdes[p->scan->nr_fdes].key = ~0u;
	/* All at once: it can have 64 MiB, and growing would take that again. */
	ret = index_room(p, nr_index(p->scan->end)) ?: add(p, 0, 0);
	for (i = 0; !ret && i < p->scan->nr_fdes; i++) {
		rows = p->nr_rows;
		if (fdes[i].key != fdes[i + 1].key) {
			ret = put_fde(p, &fdes[i], right_of(fdes, i, found));
		} else {
			/* Of some that start at one address, the first becomes the last. */
			first = fdes[i];
			fdes[i] = fdes[i + 1];
			fdes[i + 1] = first;
		}
		ret = ret ?: kuw_pause_after(p->scan->areas, KUW_FDE_WORK + p->nr_rows - rows);
	}
	return ret ?: index_to(p, nr_index(p->end));
}

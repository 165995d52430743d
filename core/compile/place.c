// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Put rows in the order of their addresses, FDE by FDE, and make entries of them. */
#include "place.h"
#include "budgets.h"

/* The most cells of a bucket: of 256 entries, and of the table's first, which is no row. */
#define MOST_CELLS	(3 * (1u << KUW_BUCKET_SHIFT) + 1)

/* Return: the words of the index of so many bytes of text. */
static u32 nr_index(u32 span)
{
	return ((span - 1) >> KUW_BUCKET_SHIFT) + 2;
}

/*
 * Index the buckets before @end: what is added from now on is not in them. Make room for the cells
 * of one. Return: 0, or an error of the caller's functions.
 */
static int index_to(struct kuw_place *p, u32 end)
{
	u32 *index = kuw_area(p->scan->areas, KUW_AREA_INDEX);
	int ret = 0;

	while (!ret && p->nr_index < end) {
		index[p->nr_index++] = p->nr_cells;
		ret = kuw_pause_after(p->scan->areas, 1);
	}
	return ret ?: kuw_area_room(p->scan->areas, KUW_AREA_CELLS,
				    (p->nr_cells + (u64)MOST_CELLS) * sizeof(struct kuw_cell));
}

/*
 * Put the rows from @off to @stop: as entries, or into the one before. The first one shall be
 * @apart. Return: 0, or an error of the caller's functions.
 */
static int put(struct kuw_place *p, u32 off, u32 stop, const u32 *row, bool apart)
{
	const struct kuw_ruleset *rules = kuw_area(p->scan->areas, KUW_AREA_RULES);
	struct kuw_cell *cells = kuw_area(p->scan->areas, KUW_AREA_CELLS);
	/* With the greatest code before it, no row is in a pair. */
	u32 n = p->nr_cells, last = apart ? U32_MAX : p->last_code, len, code, both;
	int ret;

	for (; off < stop; off += len) {
		p->last_rule = kuw_found_rule(row);
		p->nr_rows++;
		len = kuw_found_next(&row);
		code = rules[p->last_rule].code;
		both = 0;
		if (p->nr_index <= off >> KUW_BUCKET_SHIFT) {
			p->nr_cells = n;
			ret = index_to(p, (off >> KUW_BUCKET_SHIFT) + 1);
			if (ret)
				return ret;
			cells = kuw_area(p->scan->areas, KUW_AREA_CELLS);
		} else if (len <= KUW_PAIR_NEAR && (last | code) <= U8_MAX) {
			both = kuw_pairs_find(p->rank,
					      kuw_pair(last, code, (u8)off - cells[n - 1].low));
		}
		last = both ?: code;
		if (both)
			cells[n - 1].code = both;
		else
			do
				cells[n++] = (struct kuw_cell){ off, code };
			while (code >>= 8);
	}
	p->nr_cells = n;
	p->last_code = last;
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
	const u32 *row = head + 1, none[] = { KUW_FOUND_LONG << 16, fde->key - p->end };
	/* Where FDEs overlap, the one that starts last is right (libgcc). */
	u32 off = fde->key, stop = min_t(u32, off + *head, fde[1].key);
	/*
	 * What is right behind a function's end need not be behind a call, nor what is a byte
	 * behind the start of one that ends stacks: kuw_is_called().
	 */
	bool apart = off % KUW_FDE_ALIGN || is_end(p, kuw_found_rule(row));
	int ret = 0;

	if (p->end < off && p->last_rule &&
	    may_be_code(p, off - p->end, off, kuw_found_rule(row)))
		ret = put(p, p->end, off, none, false);
	/* If the previous FDE ended with the first rule of this one, its row goes on. */
	if (!apart && kuw_found_rule(row) == p->last_rule)
		off += kuw_found_next(&row);
	p->end = stop;
	return ret ?: put(p, off, stop, row, apart);
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
	const u32 *found = kuw_area(p->scan->areas, KUW_AREA_FOUND), none[] = { 1 << 16 };
	u32 i, rows;
	int ret;

	/* A sentinel after the last FDE. */
	fdes[p->scan->nr_fdes].key = ~0u;
	/* All at once: it can have 64 MiB, and growing would take that again. */
	ret = kuw_area_room(p->scan->areas, KUW_AREA_INDEX,
			    nr_index(p->scan->end) * (u64)sizeof(u32)) ?:
	      put(p, 0, 1, none, true);
	/* That was no row. */
	p->nr_rows = 0;
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

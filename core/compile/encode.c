// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Make the table from its parts: see table.h. */
#include "encode.h"
#include "budgets.h"

/* Return: where a part of the table is. */
static u32 take(u64 *bytes, u64 more)
{
	u32 at = ALIGN(*bytes, 8);

	*bytes = at + more;
	return at;
}

/* Fill in where each part is. Return: bytes of all. */
static u64 lay_out(const struct kuw_encode *en, struct kuw_table *t)
{
	const struct kuw_rank *rank = en->rank;
	u64 bytes = sizeof(*t) + (u64)t->nr_rules * sizeof(struct kuw_rule);

	t->pairs_off = take(&bytes, t->nr_pairs * (u64)sizeof(u32));
	t->saves_off = take(&bytes, (u64)rank->nr_saves * sizeof(struct kuw_saves));
	t->full_off = take(&bytes, (u64)t->nr_full * sizeof(struct kuw_rules));
	t->segments_off = take(&bytes, (u64)t->nr_segments * sizeof(struct kuw_segment));
	t->expr_off = take(&bytes, t->expr_len);
	t->index_off = take(&bytes, en->place->nr_index * (u64)sizeof(u32));
	/* Right behind the index: cells consist of bytes, and need no alignment. */
	t->cells_off = bytes;
	bytes += (t->nr_cells + 1ULL) * sizeof(struct kuw_cell);
	bytes = max_t(u64, bytes, sizeof(*t) + KUW_LEAST_RULES * sizeof(struct kuw_rule));
	bytes = max_t(u64, bytes, t->full_off + sizeof(struct kuw_rules));
	return ALIGN(bytes, 8);
}

/* Copy @bytes, or zeros if @from is NULL. Return: 0, -EINTR, -ETIME. */
static int copy(struct kuw_areas *a, const u8 *from, u64 bytes, u8 *to)
{
	u64 done, n;
	int ret = 0;

	for (done = 0; !ret && done < bytes; done += n) {
		n = min_t(u64, bytes - done, KUW_BATCH);
		if (from)
			memcpy(to + done, from + done, n);
		else
			memset(to + done, 0, n);
		ret = kuw_pause_after(a, n);
	}
	return ret;
}

/*
 * Lay out the table, and write all but its index and cells. Return: 0, -E2BIG, or an error of the
 * caller's functions.
 */
static int write_head(const struct kuw_encode *en)
{
	struct kuw_table head = {
		.base = en->scan->base,
		.span = en->place->end,
		.nr_rows = en->place->nr_rows,
		.nr_rules = en->scan->intern->nr_rules,
		.nr_full = en->rank->nr_full,
		.nr_pairs = en->rank->nr_pairs,
		.nr_cells = en->place->nr_cells,
		.nr_fdes = en->scan->nr_fdes,
		.nr_bad = en->scan->nr_bad,
		.eh_frame_len = en->scan->pos,
		.expr_len = en->scan->intern->exprs_len,
		.nr_segments = en->scan->elf->nr_segments,
		.word = en->scan->eh_frame.word,
	}, *table;
	u64 bytes = lay_out(en, &head);
	int ret;

	/* Offsets in the table have 32 bits. */
	if (bytes > S32_MAX)
		return -E2BIG;
	/* Not a byte more: this area is the result, which stays. */
	ret = en->scan->areas->grow(en->scan->areas, KUW_AREA_TABLE, bytes);
	if (ret)
		return ret;
	head.bytes = bytes;
	table = kuw_area(en->scan->areas, KUW_AREA_TABLE);
	ret = copy(en->scan->areas, NULL, head.index_off, (u8 *)table);
	if (ret)
		return ret;
	*table = head;
	memcpy((u8 *)table + head.pairs_off, en->rank->pair, head.nr_pairs * sizeof(u32));
	memcpy((u8 *)table + head.segments_off, en->scan->elf->segments,
	       head.nr_segments * sizeof(struct kuw_segment));
	if (head.expr_len)
		memcpy((u8 *)table + head.expr_off, kuw_area(en->scan->areas, KUW_AREA_EXPRS),
		       head.expr_len);
	return kuw_rank_write(en->rank, table);
}

int kuw_encode(const struct kuw_encode *en)
{
	const u32 index = en->place->nr_index * (u32)sizeof(u32);
	const u32 cells = en->place->nr_cells * (u32)sizeof(struct kuw_cell);
	struct kuw_areas *areas = en->scan->areas;
	struct kuw_table *table;
	int ret = write_head(en);
	u8 *to;

	if (ret)
		return ret;
	table = kuw_area(areas, KUW_AREA_TABLE);
	to = (u8 *)table + table->index_off;
	memset(to + index + cells, 0, table->bytes - table->index_off - index - cells);
	return copy(areas, kuw_area(areas, KUW_AREA_INDEX), index, to) ?:
	       copy(areas, kuw_area(areas, KUW_AREA_CELLS), cells, to + index);
}

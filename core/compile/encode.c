// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Encode entries as a table: see table.h. */
#include "encode.h"
#include "budgets.h"

/* put_bucket() writes the last place in four bytes. */
#define PLACES_PAD	3

/* How many buckets the text has. */
static u32 nr_buckets(const struct kuw_encode *en)
{
	return ((en->place->end - 1) >> KUW_BUCKET_SHIFT) + 1;
}

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
	t->locs_off = take(&bytes, (u64)rank->nr_locs * sizeof(struct kuw_loc));
	t->segments_off = take(&bytes, (u64)t->nr_segments * sizeof(struct kuw_segment));
	t->expr_off = take(&bytes, t->expr_len);
	t->index_off = take(&bytes, (nr_buckets(en) + 1) * (u64)sizeof(u32));
	t->places_off = take(&bytes, 2ULL * t->nr_places + PLACES_PAD);
	bytes = max_t(u64, bytes, sizeof(*t) + KUW_LEAST_RULES * sizeof(struct kuw_rule));
	return ALIGN(bytes, 8);
}

/* Lay out the table, and write all but its entries. Return: 0, -ENOMEM, -E2BIG. */
static int write_head(const struct kuw_encode *en)
{
	struct kuw_table head = {
		.base = en->scan->base,
		.span = en->place->end,
		.nr_rows = en->place->nr_rows,
		.nr_rules = en->scan->intern->nr_rules,
		.nr_pairs = en->rank->nr_pairs,
		.nr_places = en->place->nr_places,
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
	memset(table, 0, head.index_off);
	*table = head;
	memcpy((u8 *)table + head.pairs_off, en->rank->pair, head.nr_pairs * sizeof(u32));
	memcpy((u8 *)table + head.segments_off, en->scan->elf->segments,
	       head.nr_segments * sizeof(struct kuw_segment));
	if (head.expr_len)
		memcpy((u8 *)table + head.expr_off, kuw_area(en->scan->areas, KUW_AREA_EXPRS),
		       head.expr_len);
	kuw_rank_write(en->rank, table);
	return 0;
}

/*
 * Put the entries of a bucket from entry @first on: low bytes, then codes. What is written too
 * much, the next bytes or the padding cover. Return: the first entry of another bucket.
 */
static u32 put_bucket(const struct kuw_encode *en, u32 bucket, u32 first, u8 **to)
{
	const struct kuw_entry *entries = kuw_area(en->scan->areas, KUW_AREA_ENTRIES);
	u32 end;

	for (end = first; end < en->place->nr_entries; end++) {
		if (entries[end].off >> KUW_BUCKET_SHIFT != bucket)
			break;
		put_unaligned_le32((u8)entries[end].off * 0x01010101u, *to);
		*to += kuw_code_places(entries[end].code);
	}
	for (; first < end; first++) {
		put_unaligned_le32(entries[first].code, *to);
		*to += kuw_code_places(entries[first].code);
	}
	return end;
}

static void clear(void *from, const void *to)
{
	memset(from, 0, (u8 *)to - (u8 *)from);
}

int kuw_encode(const struct kuw_encode *en)
{
	u32 *index, bucket, entry = 0, before;
	struct kuw_table *table;
	u8 *places, *to;
	int ret = write_head(en);

	if (ret)
		return ret;
	table = kuw_area(en->scan->areas, KUW_AREA_TABLE);
	index = (u32 *)((u8 *)table + table->index_off);
	places = (u8 *)table + table->places_off;
	to = places;
	for (bucket = 0; bucket < nr_buckets(en); bucket++) {
		before = entry;
		index[bucket] = (to - places) / 2;
		entry = put_bucket(en, bucket, entry, &to);
		ret = kuw_pause_after(en->scan->areas, 1 + entry - before);
		if (ret)
			return ret;
	}
	index[bucket] = (to - places) / 2;
	/* What is after each part. */
	clear(index + bucket + 1, places);
	clear(to, (u8 *)table + table->bytes);
	return 0;
}

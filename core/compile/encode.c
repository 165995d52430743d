// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Encode rows as a table: see table.h. */
#include "encode.h"
#include "budgets.h"

/* Blocks written between two returns to the caller: about 10,000 rows of a usual file. */
#define BATCH_BLOCKS	64
/* A block has more than KUW_MAX_ENTRIES. */
#define TOO_MANY	(~0u)

static u32 block_of(u32 off)
{
	return off >> KUW_BLOCK_SHIFT;
}

/* How many buckets a block has. The last block ends where the table's text ends. */
static u32 nr_buckets(const struct kuw_encode *en, u32 block)
{
	u64 left = en->place->end - ((u64)block << KUW_BLOCK_SHIFT);

	return min_t(u64, KUW_BUCKETS, (left + 255) >> KUW_BUCKET_SHIFT);
}

/* Return: bytes of all chunks: for each an index, a carry and padding; 2 for each entry. */
static u64 chunks_bytes(const struct kuw_encode *en)
{
	const u64 *rows = kuw_area(en->areas, KUW_AREA_ROWS);
	u32 last = block_of(kuw_row_off(rows[en->place->nr_rows - 1]));

	/* Only the last block of the text can be short, and it may have no chunk. */
	return 2ULL * en->rank->nr_entries + (KUW_CARRY_BYTES + 1ULL) * en->place->nr_chunks +
	       (en->place->nr_chunks - 1) * 2ULL * (KUW_BUCKETS + 1) +
	       2ULL * (nr_buckets(en, last) + 1);
}

/*
 * Return: how many bytes a block's low bytes need; its codes need as many. Too many entries
 * are noticed only after one more run of rows, and a copy reads up to eight bytes more.
 */
static u64 entries_bytes(const struct kuw_encode *en)
{
	return min_t(u32, en->rank->nr_entries, KUW_MAX_ENTRIES) +
	       KUW_RUN_ROWS * KUW_CARRY_BYTES + sizeof(u64);
}

static u32 take(u64 *bytes, u64 more)
{
	u32 at = ALIGN(*bytes, 8);

	*bytes = at + more;
	return at;
}

int kuw_encode_layout(struct kuw_encode *en)
{
	struct kuw_table *table;
	u64 bytes, chunks;
	u32 blocks_off, saves_off, locs_off, runs_off, segments_off, expr_off;
	u32 blocks = block_of(en->place->end - 1) + 1;

	if (!kuw_area_room(en->areas, KUW_AREA_ENTRIES, 2 * entries_bytes(en)))
		return -ENOSPC;
	chunks = chunks_bytes(en);
	bytes = sizeof(*table) + (u64)en->rank->nr_ranked * sizeof(struct kuw_rule);
	blocks_off = take(&bytes, (u64)blocks * sizeof(u32));
	locs_off = take(&bytes, (u64)en->rank->nr_locs * sizeof(struct kuw_loc));
	segments_off = take(&bytes, (u64)en->scan->elf->nr_segments *
				    sizeof(struct kuw_segment));
	saves_off = take(&bytes, (u64)en->rank->nr_saves * sizeof(struct kuw_saves));
	runs_off = take(&bytes, (en->rank->runs->nr_runs + 1ULL) * sizeof(u16) +
				en->rank->runs->nr_run_rows * (sizeof(u16) + sizeof(u8)));
	expr_off = take(&bytes, en->rank->intern->exprs_len);
	en->chunk = take(&bytes, chunks + KUW_TABLE_PAD);
	bytes = ALIGN(bytes, 8);
	/* Offsets in the table have 32 bits. */
	if (bytes > S32_MAX)
		return -E2BIG;
	if (!kuw_area_room(en->areas, KUW_AREA_TABLE, bytes)) {
		/* Not a byte more: this area is the result, which stays. */
		en->areas->grow_bytes = bytes;
		return -ENOSPC;
	}
	en->bytes = bytes;
	table = kuw_area(en->areas, KUW_AREA_TABLE);
	memset(table, 0, en->chunk);
	table->base = en->scan->base;
	table->span = en->place->end;
	table->word = en->scan->eh_frame.word;
	table->bytes = bytes;
	table->nr_rows = en->rank->runs->nr_rows;
	table->nr_rules = en->rank->nr_ranked;
	table->nr_runs = en->rank->runs->nr_runs;
	table->nr_run_rows = en->rank->runs->nr_run_rows;
	table->nr_fdes = en->scan->nr_fdes;
	table->nr_bad = en->scan->nr_bad;
	table->eh_frame_len = en->scan->scanned;
	table->blocks_off = blocks_off;
	table->saves_off = saves_off;
	table->locs_off = locs_off;
	table->runs_off = runs_off;
	table->expr_off = expr_off;
	table->expr_len = en->rank->intern->exprs_len;
	table->segments_off = segments_off;
	table->nr_segments = en->scan->elf->nr_segments;
	memcpy((u8 *)table + segments_off, en->scan->elf->segments,
	       en->scan->elf->nr_segments * sizeof(struct kuw_segment));
	if (en->rank->intern->exprs_len)
		memcpy((u8 *)table + expr_off, kuw_area(en->areas, KUW_AREA_EXPRS),
		       en->rank->intern->exprs_len);
	kuw_rank_write(en->rank, table);
	kuw_runs_write(en->rank->runs, en->rank->intern, table);
	return 0;
}

/* The entries of a block. put() stores them in pieces; they are copied later, in whole
 * words, as a processor stalls if it loads a word that it has just stored in pieces.
 */
struct entries {
	u8 *low;
	u8 *codes;
	u64 n;
};

static __always_inline void put(struct entries *e, u8 byte, u32 code)
{
	put_unaligned_le32(byte * 0x01010101u, e->low + e->n);
	put_unaligned_le32(code, e->codes + e->n);
	e->n += kuw_code_places(code);
}

/* Put the rows of @node, which are not one run, from @off on. Return: how many entries then. */
static noinline u64 put_apart(const struct kuw_encode *en, struct entries e, u32 off, u32 node)
{
	const struct kuw_node *nodes = kuw_area(en->areas, KUW_AREA_NODES);
	u32 path[KUW_RUN_ROWS], i, take = nodes[node].take, depth = nodes[node].depth;
	const u32 *codes = kuw_rank_codes(en->rank);

	if (take)
		put(&e, off, kuw_rank_run_code(en->rank, nodes[node].run));
	for (i = depth; i > take; node = kuw_node_parent(&nodes[node]))
		path[--i] = node;
	for (; i < depth; i++)
		put(&e, off + nodes[path[i]].span, codes[kuw_node_rule(&nodes[path[i]])]);
	return e.n;
}

/* Return: the rule that holds after the rows of @row. */
static u32 rule_behind(const struct kuw_encode *en, u64 row)
{
	const struct kuw_node *nodes = kuw_area(en->areas, KUW_AREA_NODES);
	u32 what = kuw_row_what(row);

	if (what >= en->rank->intern->nr_rules)
		what = kuw_node_rule(&nodes[what - en->rank->intern->nr_rules]);
	return what;
}

/* Copy whole words: both sides have room for eight bytes more. Return: the copy's end. */
static u8 *copy(u8 *to, const u8 *from, u64 n)
{
	u64 i;

	for (i = 0; i < n; i += sizeof(u64))
		put_unaligned_le64(get_unaligned_le64(from + i), to + i);
	return to + n;
}

/* Copy @n entries from @first on; n is nearly always 8 at most. Return: the copy's end. */
static __always_inline u8 *put_bucket(const struct entries *e, u64 first, u64 n, u8 *to)
{
	if (unlikely(n > sizeof(u64)))
		return copy(copy(to, e->low + first, n), e->codes + first, n);
	put_unaligned_le64(get_unaligned_le64(e->low + first), to);
	put_unaligned_le64(get_unaligned_le64(e->codes + first), to + n);
	return to + 2 * n;
}

/*
 * Write the rows that start in @block, from @first on, and before them the block's index.
 * Return: the first row of a later block, or TOO_MANY.
 */
static u32 write_block(struct kuw_encode *en, struct kuw_table *table,
		       u32 block, u32 first)
{
	const struct kuw_ruleset *rules = kuw_area(en->areas, KUW_AREA_RULES);
	const u64 *rows = kuw_area(en->areas, KUW_AREA_ROWS), *row = rows + first;
	const u64 *last = rows + en->place->nr_rows;
	const u32 *codes = kuw_rank_codes(en->rank);
	u32 *head = (u32 *)((u8 *)table + table->blocks_off) + block;
	u32 bucket, buckets, chunk, off, code;
	u32 carry = first ? rule_behind(en, rows[first - 1]) : 0;
	struct entries e = { .low = kuw_area(en->areas, KUW_AREA_ENTRIES) };
	u64 before = 0, end;
	u16 ends[KUW_BUCKETS], *index;
	u8 *out;

	if (first == en->place->nr_rows || block_of(kuw_row_off(rows[first])) != block) {
		*head = kuw_block_rule(rules[carry].rank);
		return first;
	}
	e.codes = e.low + entries_bytes(en);
	memset(ends, 0, sizeof(ends));
	for (; row < last; row++) {
		/* @off is now an offset in the block. */
		off = kuw_row_off(*row) - (block << KUW_BLOCK_SHIFT);
		bucket = off >> KUW_BUCKET_SHIFT;
		if (bucket >= KUW_BUCKETS)
			break;
		code = codes[kuw_row_what(*row)];
		if (likely(code))
			put(&e, off, code);
		else
			e.n = put_apart(en, e, off, kuw_row_what(*row) -
						    en->rank->intern->nr_rules);
		if (unlikely(e.n > KUW_MAX_ENTRIES))
			return TOO_MANY;
		/* The last entry of each bucket decides. */
		ends[bucket] = e.n;
	}
	buckets = nr_buckets(en, block);
	chunk = en->chunk + 2 * (buckets + 1);
	*head = chunk;
	index = (u16 *)((u8 *)table + chunk) - 1;
	out = (u8 *)table + chunk;
	/* The carry's code ends where the entries start. */
	memset(out, 0, KUW_CARRY_BYTES);
	out += KUW_CARRY_BYTES;
	put_unaligned_le32(codes[carry], out - kuw_code_places(codes[carry]));
	for (bucket = 0; bucket < buckets; bucket++) {
		*index-- = before;
		end = max_t(u64, before, ends[bucket]);
		out = put_bucket(&e, before, end - before, out);
		before = end;
	}
	*index = before;
	/* Aligning the next chunk may leave one byte: clear it. */
	*out = 0;
	en->chunk = ALIGN(out - (u8 *)table, 2);
	return row - rows;
}

int kuw_encode_blocks(struct kuw_encode *en)
{
	struct kuw_table *table = kuw_area(en->areas, KUW_AREA_TABLE);
	u32 blocks = block_of(en->place->end - 1) + 1, budget = BATCH_BLOCKS, row;
	u32 enough = en->row + KUW_BATCH_ROWS / KUW_RUN_ROWS;

	for (; en->block < blocks; en->block++) {
		if (!budget-- || en->row >= enough)
			return KUW_AGAIN;
		row = write_block(en, table, en->block, en->row);
		if (row == TOO_MANY)
			return -E2BIG;
		en->row = row;
	}
	memset((u8 *)table + en->chunk, 0, table->bytes - en->chunk);
	return 0;
}

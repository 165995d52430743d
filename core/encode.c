// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Encode rows and distinct rules as a table: see table.h. */
#include "compile.h"
#include "limits.h"
#include "table.h"

/* Blocks written between two returns to the caller: about 10,000 rows of a usual file. */
#define BATCH_BLOCKS	64
/* A block has more than KUW_MAX_ENTRIES. */
#define TOO_MANY	(~0u)

static const u8 saved_regs[KUW_NR_SAVES] = KUW_SAVED_REGS;

static u32 block_of(u32 off)
{
	return off >> KUW_BLOCK_SHIFT;
}

/* How many buckets a block has. The last block ends where the table's text ends. */
static u32 nr_buckets(const struct kuw_compile *c, u32 block)
{
	u64 left = c->covered - ((u64)block << KUW_BLOCK_SHIFT);

	return min_t(u64, KUW_BUCKETS, (left + 255) >> KUW_BUCKET_SHIFT);
}

/* Return: words from the CFA to the saved register; 0 if it is not saved in that way. */
static s32 saved_word(const struct kuw_compile *c, u64 loc)
{
	s32 off = loc >> 32, word = c->eh_frame.word;

	return kuw_loc_how(loc) == KUW_AT_CFA && off % word == 0 ? off / word : 0;
}

/* Return: whether struct kuw_saves can express @regs. Fills in @saves unless it is NULL. */
static bool plain_regs(const struct kuw_compile *c, const struct kuw_regset *regs,
		       struct kuw_saves *saves)
{
	u32 i, seen = 1u << KUW_RA;
	s32 word;

	if (saved_word(c, regs->reg[KUW_RA]) != -1)
		return false;
	for (i = 0; i < KUW_NR_SAVES; i++) {
		word = saved_word(c, regs->reg[saved_regs[i]]);
		if (word != (s8)word ||
		    (!word && kuw_loc_how(regs->reg[saved_regs[i]]) != KUW_SAME))
			return false;
		if (saves)
			saves->word[i] = word;
		seen |= 1u << saved_regs[i];
	}
	for (i = 0; i < KUW_NR_REGS; i++)
		if (!(seen & 1u << i) && kuw_loc_how(regs->reg[i]) != KUW_SAME)
			return false;
	return true;
}

/* Return: whether struct kuw_rule, with its struct kuw_saves, can express @rule. */
static bool plain_rule(const struct kuw_compile *c,
		       const struct kuw_ruleset *rule,
		       const struct kuw_regset *regs)
{
	s32 rbp = saved_word(c, regs->reg[KUW_RBP]);
	struct kuw_loc cfa = kuw_loc_unpack(rule->cfa);
	s32 word = c->eh_frame.word, words = cfa.off / word;

	return !rule->signal && cfa.how == KUW_REG &&
	       (cfa.reg == KUW_RSP || cfa.reg == KUW_RBP) &&
	       cfa.off % word == 0 && words >= 0 && words <= KUW_RULE_MAX_CFA &&
	       rbp >= KUW_RULE_MIN_RBP && rbp <= KUW_RULE_MAX_RBP && regs->plain;
}

/* Return: whether struct kuw_ext must list the rule of a register. */
static bool listed(const struct kuw_compile *c, u64 loc, u32 reg)
{
	if (reg == KUW_RA)
		return saved_word(c, loc) != -1;
	return kuw_loc_how(loc) != KUW_SAME;
}

/* The size of a struct kuw_ext, in struct kuw_loc: one for its head, one for the CFA. */
static u32 ext_locs(const struct kuw_compile *c, const struct kuw_regset *regs)
{
	u32 i, n = 2;

	for (i = 0; i < KUW_NR_REGS; i++)
		n += listed(c, regs->reg[i], i);
	return n;
}

/* How many places the code of a rule or of a run takes. */
static u32 rule_places(u32 rank)
{
	return rank < KUW_CODE_RUN ? 1 :
	       rank < (KUW_CODE_LONGEST - KUW_CODE_LONG) << 8 ? 2 : 3;
}

static u32 run_places(const struct kuw_compile *c, u32 run)
{
	return run < KUW_CODE_LONG - KUW_CODE_RUN ? 1 :
	       c->nr_ranked + run < (KUW_CODE_LONGEST - KUW_CODE_LONG) << 8 ? 2 : 3;
}

/* Number the rules by use. Rule 0, "no FDE", keeps its number. */
static void rank_rules(struct kuw_compile *c, struct kuw_pair *pairs)
{
	struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;
	const struct kuw_pair *sorted;
	u32 i, n = c->nr_rules - 1;

	c->nr_entries = rules[0].uses;
	for (i = 0; i < n; i++) {
		/* A rule that only runs have (rank 1, uses 0) needs a number, too. */
		pairs[i].key = ~(rules[i + 1].uses * 2 + rules[i + 1].rank);
		pairs[i].value = i + 1;
	}
	sorted = kuw_sort(c, pairs, n);
	rules[0].rank = 0;
	for (i = 0; i < n; i++) {
		pairs[i] = sorted[i];
		/* The rest have no uses: their rows were taken back. */
		if (!~pairs[i].key)
			break;
		rules[pairs[i].value].rank = i + 1;
		c->nr_entries += rules[pairs[i].value].uses * rule_places(i + 1);
	}
	c->nr_ranked = i + 1;
}

static const struct kuw_ruleset *ranked(struct kuw_compile *c, u32 rank)
{
	const struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;
	const struct kuw_pair *pairs = c->areas[KUW_AREA_FDES].mem;

	return rank ? &rules[pairs[rank - 1].value] : &rules[0];
}

static void count_rules(struct kuw_compile *c)
{
	struct kuw_regset *sets = c->areas[KUW_AREA_REGS].mem;
	const struct kuw_ruleset *rule;
	struct kuw_regset *regs;
	u32 i;

	for (i = 0; i < c->nr_regs; i++)
		sets[i].plain = plain_regs(c, &sets[i], NULL);
	for (i = 1; i < c->nr_ranked; i++) {
		rule = ranked(c, i);
		regs = &sets[rule->regs];
		/* In the order of use, so that frequent rules get the limited saves. */
		if (plain_rule(c, rule, regs) && regs->saves == KUW_NO_SAVES &&
		    c->nr_saves < KUW_MAX_SAVES)
			regs->saves = c->nr_saves++;
		if (!plain_rule(c, rule, regs) || regs->saves == KUW_NO_SAVES)
			c->nr_locs += ext_locs(c, regs);
	}
}

int kuw_encode_rank(struct kuw_compile *c)
{
	const struct kuw_node *nodes = c->areas[KUW_AREA_NODES].mem;
	struct kuw_pair *pairs = kuw_sort_room(c, max_t(u32, c->nr_nodes,
							c->nr_rules));
	u32 i;

	if (!pairs)
		return -ENOSPC;
	kuw_runs_choose(c, pairs);
	rank_rules(c, pairs);
	count_rules(c);
	for (i = 1; i < c->nr_nodes; i++)
		if (nodes[i].take == nodes[i].depth)
			c->nr_entries += nodes[i].uses * run_places(c, nodes[i].run);
	return 0;
}

/* Return: bytes of all chunks: for each an index, a carry and padding; 2 for each entry. */
static u64 chunks_bytes(const struct kuw_compile *c)
{
	const u64 *rows = c->areas[KUW_AREA_ROWS].mem;
	u32 last = block_of(kuw_row_off(rows[c->nr_placed - 1]));

	/* Only the last block of the text can be short, and it may have no chunk. */
	return 2ULL * c->nr_entries + (KUW_CARRY_BYTES + 1ULL) * c->nr_chunks +
	       (c->nr_chunks - 1) * 2ULL * (KUW_BUCKETS + 1) +
	       2ULL * (nr_buckets(c, last) + 1);
}

/*
 * Return: how many bytes a block's low bytes need; its codes need as many. Too many entries
 * are noticed only after one more run of rows, and a copy reads up to eight bytes more.
 */
static u64 entries_bytes(const struct kuw_compile *c)
{
	return min_t(u32, c->nr_entries, KUW_MAX_ENTRIES) +
	       KUW_RUN_ROWS * KUW_CARRY_BYTES + sizeof(u64);
}

static u32 take(u64 *bytes, u64 more)
{
	u32 at = ALIGN(*bytes, 8);

	*bytes = at + more;
	return at;
}

static void write_ext(struct kuw_compile *c, const struct kuw_ruleset *rule,
		      struct kuw_ext *ext)
{
	const struct kuw_regset *sets = c->areas[KUW_AREA_REGS].mem;
	const u64 *reg = sets[rule->regs].reg;
	u32 i;

	ext->signal = rule->signal;
	ext->nr_locs = 0;
	ext->locs[0] = kuw_loc_unpack(rule->cfa);
	for (i = 0; i < KUW_NR_REGS; i++)
		if (listed(c, reg[i], i))
			ext->locs[++ext->nr_locs] = kuw_loc_unpack(reg[i]);
}

static void write_rules(struct kuw_compile *c, struct kuw_table *table)
{
	struct kuw_saves *saves = (void *)((u8 *)table + table->saves_off);
	struct kuw_loc *locs = (void *)((u8 *)table + table->locs_off);
	const struct kuw_regset *sets = c->areas[KUW_AREA_REGS].mem;
	const struct kuw_ruleset *rule;
	const struct kuw_regset *regs;
	struct kuw_loc cfa;
	s32 rbp;
	u32 i, kind, nr_locs = 0;

	table->rules[0].bits = KUW_KIND_NONE;
	for (i = 1; i < c->nr_ranked; i++) {
		rule = ranked(c, i);
		regs = &sets[rule->regs];
		if (plain_rule(c, rule, regs) && regs->saves != KUW_NO_SAVES) {
			rbp = saved_word(c, regs->reg[KUW_RBP]);
			plain_regs(c, regs, &saves[regs->saves]);
			cfa = kuw_loc_unpack(rule->cfa);
			table->rules[i] = kuw_rule_plain(cfa.reg == KUW_RSP ? KUW_KIND_RSP :
									      KUW_KIND_RBP,
							 cfa.off / (s32)c->eh_frame.word,
							 regs->saves, rbp);
		} else {
			kind = kuw_loc_how(regs->reg[KUW_RA]) == KUW_UNDEF ? KUW_KIND_END :
									     KUW_KIND_EXT;
			table->rules[i].bits = kind | nr_locs << 3;
			write_ext(c, rule, (struct kuw_ext *)&locs[nr_locs]);
			nr_locs += ext_locs(c, regs);
		}
	}
}

/*
 * A code has its number of bytes in the highest byte, so that put() needs no branch. It is
 * 0 for several rows that are not one run.
 */
static u32 code_places(u32 code)
{
	return code >> 24;
}

/* @number is that of a rule, or that of a run plus the number of rules. */
static u32 long_code(u32 number)
{
	if (rule_places(max_t(u32, number, KUW_CODE_RUN)) == 2)
		return 2 << 24 | (KUW_CODE_LONG + (number >> 8)) << 8 | (number & 0xff);
	return 3 << 24 | KUW_CODE_LONGEST << 16 | number;
}

static u32 rule_code(u32 rank)
{
	return rank < KUW_CODE_RUN ? 1 << 24 | rank : long_code(rank);
}

static u32 run_code(const struct kuw_compile *c, u32 run)
{
	return run < KUW_CODE_LONG - KUW_CODE_RUN ?
	       1 << 24 | (KUW_CODE_RUN + run) : long_code(c->nr_ranked + run);
}

/* KUW_AREA_FOUND, reused: the codes of rules, those of nodes, then a block's entries. */
static u32 *codes_of(const struct kuw_compile *c)
{
	return c->areas[KUW_AREA_FOUND].mem;
}

static void write_codes(const struct kuw_compile *c)
{
	const struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;
	const struct kuw_node *nodes = c->areas[KUW_AREA_NODES].mem;
	u32 *codes = codes_of(c), i;

	for (i = 0; i < c->nr_rules; i++)
		codes[i] = rule_code(rules[i].rank);
	codes += c->nr_rules;
	for (i = 0; i < c->nr_nodes; i++)
		if (nodes[i].take == nodes[i].depth)
			codes[i] = run_code(c, nodes[i].run);
		else if (nodes[i].depth == 1)
			codes[i] = rule_code(rules[kuw_node_rule(&nodes[i])].rank);
		else
			codes[i] = 0;
}

int kuw_encode_layout(struct kuw_compile *c)
{
	struct kuw_table *table;
	u64 bytes, chunks;
	u32 blocks_off, saves_off, locs_off, runs_off, segments_off, expr_off;
	u32 blocks = block_of(c->covered - 1) + 1;

	if (!kuw_compile_room(c, KUW_AREA_FOUND, (u64)(c->nr_rules + c->nr_nodes) *
						 sizeof(u32) + 2 * entries_bytes(c)))
		return -ENOSPC;
	chunks = chunks_bytes(c);
	bytes = sizeof(*table) + (u64)c->nr_ranked * sizeof(struct kuw_rule);
	blocks_off = take(&bytes, (u64)blocks * sizeof(u32));
	locs_off = take(&bytes, (u64)c->nr_locs * sizeof(struct kuw_loc));
	segments_off = take(&bytes, (u64)c->elf->nr_segments *
				    sizeof(struct kuw_segment));
	saves_off = take(&bytes, (u64)c->nr_saves * sizeof(struct kuw_saves));
	runs_off = take(&bytes, (c->nr_runs + 1ULL) * sizeof(u16) +
				c->nr_run_rows * (sizeof(u16) + sizeof(u8)));
	expr_off = take(&bytes, c->exprs_len);
	c->chunk = take(&bytes, chunks + KUW_TABLE_PAD);
	bytes = ALIGN(bytes, 8);
	/* Offsets in the table have 32 bits. */
	if (bytes > S32_MAX)
		return -E2BIG;
	if (!kuw_compile_room(c, KUW_AREA_TABLE, bytes)) {
		/* Not a byte more: this area is the result, which stays. */
		c->grow_bytes = bytes;
		return -ENOSPC;
	}
	c->table_bytes = bytes;
	table = c->areas[KUW_AREA_TABLE].mem;
	memset(table, 0, c->chunk);
	table->base = c->base;
	table->span = c->covered;
	table->word = c->eh_frame.word;
	table->bytes = bytes;
	table->nr_rows = c->nr_rows;
	table->nr_rules = c->nr_ranked;
	table->nr_runs = c->nr_runs;
	table->nr_run_rows = c->nr_run_rows;
	table->nr_fdes = c->nr_fdes;
	table->nr_bad = c->nr_bad;
	table->eh_frame_len = c->scanned;
	table->blocks_off = blocks_off;
	table->saves_off = saves_off;
	table->locs_off = locs_off;
	table->runs_off = runs_off;
	table->expr_off = expr_off;
	table->expr_len = c->exprs_len;
	table->segments_off = segments_off;
	table->nr_segments = c->elf->nr_segments;
	memcpy((u8 *)table + segments_off, c->elf->segments,
	       c->elf->nr_segments * sizeof(struct kuw_segment));
	if (c->exprs_len)
		memcpy((u8 *)table + expr_off, c->areas[KUW_AREA_EXPRS].mem,
		       c->exprs_len);
	write_rules(c, table);
	kuw_runs_write(c, table);
	write_codes(c);
	c->scanned = 0;
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
	e->n += code_places(code);
}

/* Put the rows of @node, which are not one run, from @off on. Return: how many entries then. */
static noinline u64 put_apart(const struct kuw_compile *c, struct entries e, u32 off, u32 node)
{
	const struct kuw_node *nodes = c->areas[KUW_AREA_NODES].mem;
	u32 path[KUW_RUN_ROWS], i, take = nodes[node].take, depth = nodes[node].depth;
	const u32 *codes = codes_of(c);

	if (take)
		put(&e, off, run_code(c, nodes[node].run));
	for (i = depth; i > take; node = kuw_node_parent(&nodes[node]))
		path[--i] = node;
	for (; i < depth; i++)
		put(&e, off + nodes[path[i]].span, codes[kuw_node_rule(&nodes[path[i]])]);
	return e.n;
}

/* Return: the rule that holds after the rows of @row. */
static u32 rule_behind(const struct kuw_compile *c, u64 row)
{
	const struct kuw_node *nodes = c->areas[KUW_AREA_NODES].mem;
	u32 what = kuw_row_what(row);

	if (what >= c->nr_rules)
		what = kuw_node_rule(&nodes[what - c->nr_rules]);
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
static u32 write_block(struct kuw_compile *c, struct kuw_table *table,
		       u32 block, u32 first)
{
	const struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;
	const u64 *rows = c->areas[KUW_AREA_ROWS].mem, *row = rows + first;
	const u64 *last = rows + c->nr_placed;
	const u32 *codes = codes_of(c);
	u32 *head = (u32 *)((u8 *)table + table->blocks_off) + block;
	u32 bucket, buckets, chunk, off, code;
	u32 carry = first ? rule_behind(c, rows[first - 1]) : 0;
	struct entries e = { .low = (u8 *)(codes + c->nr_rules + c->nr_nodes) };
	u64 before = 0, end;
	u16 ends[KUW_BUCKETS], *index;
	u8 *out;

	if (first == c->nr_placed || block_of(kuw_row_off(rows[first])) != block) {
		*head = kuw_block_rule(rules[carry].rank);
		return first;
	}
	e.codes = e.low + entries_bytes(c);
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
			e.n = put_apart(c, e, off, kuw_row_what(*row) - c->nr_rules);
		if (unlikely(e.n > KUW_MAX_ENTRIES))
			return TOO_MANY;
		/* The last entry of each bucket decides. */
		ends[bucket] = e.n;
	}
	buckets = nr_buckets(c, block);
	chunk = c->chunk + 2 * (buckets + 1);
	*head = chunk;
	index = (u16 *)((u8 *)table + chunk) - 1;
	out = (u8 *)table + chunk;
	/* The carry's code ends where the entries start. */
	memset(out, 0, KUW_CARRY_BYTES);
	out += KUW_CARRY_BYTES;
	put_unaligned_le32(codes[carry], out - code_places(codes[carry]));
	for (bucket = 0; bucket < buckets; bucket++) {
		*index-- = before;
		end = max_t(u64, before, ends[bucket]);
		out = put_bucket(&e, before, end - before, out);
		before = end;
	}
	*index = before;
	/* Aligning the next chunk may leave one byte: clear it. */
	*out = 0;
	c->chunk = ALIGN(out - (u8 *)table, 2);
	return row - rows;
}

int kuw_encode_blocks(struct kuw_compile *c)
{
	struct kuw_table *table = c->areas[KUW_AREA_TABLE].mem;
	u32 blocks = block_of(c->covered - 1) + 1, budget = BATCH_BLOCKS, row;
	u32 enough = c->scanned + KUW_BATCH_ROWS / KUW_RUN_ROWS;

	for (; c->pos < blocks; c->pos++) {
		if (!budget-- || c->scanned >= enough)
			return KUW_AGAIN;
		row = write_block(c, table, c->pos, c->scanned);
		if (row == TOO_MANY)
			return -E2BIG;
		c->scanned = row;
	}
	memset((u8 *)table + c->chunk, 0, table->bytes - c->chunk);
	return 0;
}

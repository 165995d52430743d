// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Look-ups in a table, except the common case of the walk, which is inline in table.h. */
#include "table.h"

/*
 * Return: the last cell of the entry that holds at an offset. @starts: whether that starts in the
 * offset's bucket.
 */
static const struct kuw_cell *search(const struct kuw_table *table, u64 off, bool *starts)
{
	const struct kuw_look look = kuw_table_look(table);
	struct kuw_bucket bucket;
	u32 count = 0, end, middle;

	/* The program chose it, and the comparison with the span may be mispredicted. */
	bucket = kuw_bucket_of(&look, kuw_port_index(off, table->span));
	end = bucket.n;
	while (count < end) {
		middle = (count + end) / 2;
		if (bucket.cells[middle].low > (u8)off)
			end = middle;
		else
			count = middle + 1;
	}
	*starts = count;
	return bucket.cells + count - 1;
}

struct kuw_rule kuw_table_find(const struct kuw_table *table, u64 off)
{
	const struct kuw_cell *last;
	bool starts;

	if (off >= table->span)
		return table->rules[0];
	last = search(table, off, &starts);
	return table->rules[kuw_rule_number(table, last, off, starts)];
}

bool kuw_table_starts(const struct kuw_table *table, u64 off)
{
	const struct kuw_cell *last;
	bool starts;

	if (off >= table->span)
		return false;
	last = search(table, off, &starts);
	return starts && last->low == (u8)off;
}

static void expand_saves(const struct kuw_saves *saves, s32 word,
			 struct kuw_rules *rules)
{
	static const u8 regs[KUW_NR_SAVES] = KUW_SAVED_REGS;
	u32 i;

	for (i = 0; i < KUW_NR_SAVES; i++) {
		if (!saves->word[i])
			continue;
		rules->reg[regs[i]].how = KUW_AT_CFA;
		rules->reg[regs[i]].off = saves->word[i] * word;
	}
}

void kuw_table_expand(const struct kuw_table *table, struct kuw_rule rule,
		      struct kuw_rules *rules)
{
	const struct kuw_saves *saves = kuw_table_at(table, table->saves_off);
	const u32 nr_saves = (table->full_off - table->saves_off) / sizeof(*saves);

	memset(rules, 0, sizeof(*rules));
	rules->reg[KUW_RA].how = KUW_AT_CFA;
	rules->reg[KUW_RA].off = -(s32)table->word;
	switch (kuw_rule_kind(rule)) {
	case KUW_KIND_RSP:
	case KUW_KIND_RBP:
		rules->kind = KUW_RULES_FRAME;
		rules->cfa.how = KUW_REG;
		rules->cfa.reg = kuw_rule_by_rbp(rule) ? KUW_RBP : KUW_RSP;
		rules->cfa.off = kuw_rule_cfa(rule, table->word);
		/* That the rule is of these kinds may have been mispredicted. */
		saves += kuw_port_index(kuw_rule_saves(rule), nr_saves);
		expand_saves(saves, table->word, rules);
		break;
	case KUW_KIND_FULL:
	case KUW_KIND_END:
		*rules = *kuw_table_full(table, rule);
		break;
	}
}

const u8 *kuw_table_expr(const struct kuw_table *table,
			 const struct kuw_loc *loc, u32 *len)
{
	/* That the loc has an expression may have been mispredicted: the file chose its offset. */
	const u32 off = kuw_port_index((u32)loc->off, table->expr_len);
	const u8 *entry = kuw_table_at(table, table->expr_off + off);

	/* A pool entry is a u16 length and its bytes. */
	*len = kuw_port_index(get_unaligned_le16(entry), table->expr_len - off);
	return entry + 2;
}

/*
 * How well a mapping of @len bytes at file offset @off fits a segment; 0: not at all. It need
 * not fit exactly. Two segments may share a page of the file, which is then mapped twice. A
 * mapping may be cut, or the program may have made it itself.
 */
static u32 fit(const struct kuw_segment *seg, u64 off, u64 len)
{
	u64 end = seg->off + seg->filesz;

	if (off >= end || off + len <= seg->off)
		return 0;
	return 1 + (off == (seg->off & -KUW_PAGE)) +
	       (off + len == ALIGN(end, KUW_PAGE));
}

bool kuw_table_bias(const struct kuw_table *table, u64 start, u64 len, u64 off,
		    u64 *bias)
{
	const struct kuw_segment *seg = kuw_table_at(table, table->segments_off);
	const struct kuw_segment *end = seg + table->nr_segments;
	u32 best = 0, now;
	bool sure = false;
	u64 b;

	for (; seg < end; seg++) {
		now = fit(seg, off, len);
		if (!now || now < best)
			continue;
		b = start - (off - seg->off + seg->vaddr);
		/* If two fit as well, the one with a bias of 0 is meant; else it is unsure. */
		if (now == best && b) {
			sure = sure && (b == *bias || !*bias);
			continue;
		}
		best = now;
		*bias = b;
		sure = true;
	}
	return sure;
}

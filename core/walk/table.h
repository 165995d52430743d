/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The unwind table of one file: immutable, position-independent, one block.
 *
 * Addresses in it are offsets from @base. A row starts at an offset and holds until the
 * next one. An entry is a row, or several. Text is cut into buckets of 256 bytes, so that of an
 * entry's offset one byte has to be kept:
 *
 *	u32 index[]			how many cells come before each bucket, and before the end
 *	struct kuw_cell cells[]		of each entry the low byte of its offset, and its code
 *
 * So a look-up reads where the cells of the bucket are, and counts those that start at or
 * before the offset. The first entry is at offset 0, with rule 0, which is none, so there is one.
 *
 * A code is a number by frequency. Below KUW_CODE_PAIR it is that of a rule, below
 * KUW_CODE_LONG that of a pair. All other rules have codes of two or three bytes, of which the
 * last one comes last. Such an entry takes as many cells, with its low byte in each. So the
 * cell before a bucket has the end of the code that holds there, until the bucket's first entry.
 *
 * A pair is a code, the code of a rule, and a distance: the rows of the first, and after so
 * many bytes a row of the rule. The first may be a pair. A file has the same rows at the same
 * distances in many places, as in prologues and epilogues. All rows of a pair start in one
 * bucket, and its last row holds until the next entry.
 *
 * A function that starts at no multiple of KUW_FDE_ALIGN starts an entry, even if the rule is the
 * same before.
 *
 * A mispredicted look-up finds nothing but rules of the table. It may take any byte for a code of
 * one byte: a table has room for KUW_LEAST_RULES, and for a struct kuw_rules. It may compare the
 * low byte of the cell behind a bucket: behind the last bucket there is a cell of zeros.
 */
#ifndef KUW_TABLE_H
#define KUW_TABLE_H

#include "kunwind_port.h"
#include "elf.h"
#include "rule.h"

#define KUW_BUCKET_SHIFT	8
#define KUW_CODE_PAIR		128
#define KUW_CODE_LONG		224	/* the code before it is the number's lowest byte */
#define KUW_CODE_LONGEST	255	/* two codes before it are the number */
#define KUW_MAX_PAIRS		(KUW_CODE_LONG - KUW_CODE_PAIR)
#define KUW_LEAST_RULES		(U8_MAX + 1)

/* How a rule's CFA is found. */
enum kuw_rule_kind {
	KUW_KIND_RSP,		/* CFA = rsp + words */
	KUW_KIND_RBP,		/* CFA = rbp + words */
	KUW_KIND_NONE,		/* no FDE, or one without a CFA there */
	KUW_KIND_FULL,		/* anything else: a struct kuw_rules says it */
	KUW_KIND_END = 7,	/* the same, with an undefined return address: no caller */
};

/*
 * A rule as the walk applies it. Its bits, from the lowest: 3 bits enum kuw_rule_kind; 16 bits
 * words from the register to the CFA; 8 bits index of its struct kuw_saves; 5 bits signed words
 * from the CFA to the saved rbp, 0 if rbp is unchanged. For KUW_KIND_FULL and KUW_KIND_END: 29 bits
 * index of its struct kuw_rules.
 *
 * For KUW_KIND_RSP and KUW_KIND_RBP, the return address is a word below the CFA. A rule has
 * four bytes, so that all frequent rules of a file fit into a few cache lines. With words of
 * 8 bytes, the words to the CFA are where their bytes are: a mask is enough.
 */
struct kuw_rule {
	u32 bits;
};

#define KUW_RULE_MAX_CFA	0xffff
#define KUW_RULE_MIN_RBP	(-16)
#define KUW_RULE_MAX_RBP	15

static __always_inline u32 kuw_rule_kind(struct kuw_rule rule)
{
	return rule.bits & 7;
}

/* Return: whether it is of KUW_KIND_RSP or KUW_KIND_RBP. */
static __always_inline bool kuw_rule_is_plain(struct kuw_rule rule)
{
	return !(rule.bits & 2);
}

/* Return: whether a plain rule is of KUW_KIND_RBP. */
static __always_inline bool kuw_rule_by_rbp(struct kuw_rule rule)
{
	return rule.bits & 1;
}

/* Bytes from the register to the CFA; @word is the table's. */
static __always_inline u64 kuw_rule_cfa(struct kuw_rule rule, u32 word)
{
	return (u64)(rule.bits & KUW_RULE_MAX_CFA << 3) / 8 * word;
}

/* Bytes from the CFA to the saved rbp; @word is the table's. */
static __always_inline s64 kuw_rule_rbp(struct kuw_rule rule, u32 word)
{
	return ((s32)rule.bits >> 27) * (s64)word;
}

static inline u32 kuw_rule_saves(struct kuw_rule rule)
{
	return rule.bits >> 19 & 0xff;
}

static inline struct kuw_rule kuw_rule_plain(u32 kind, u32 cfa, u32 saves, s32 rbp)
{
	return (struct kuw_rule){ kind | cfa << 3 | saves << 19 | (u32)rbp << 27 };
}

#define KUW_MAX_SAVES		256

/* Where the callee-saved registers are: words from the CFA, 0 if unchanged. */
struct kuw_saves {
	s8 word[KUW_NR_SAVES];
};

/*
 * Return: a pair as the table has it: the code of its first rows, that of its last row's rule,
 * and the bytes from its first row to that.
 */
static inline u32 kuw_pair(u8 before, u8 rule, u8 distance)
{
	return before | rule << 8 | distance << 16;
}

/* The header. Offsets are from its own start. */
struct kuw_table {
	u64 base;		/* file address of offset 0 */
	u64 span;		/* bytes of text from there to the end of the last row */
	u32 bytes;		/* of the whole table */
	u32 nr_rows;
	u32 nr_rules;
	u32 nr_full;		/* of these, how many are not plain; rule 0 does not count */
	u32 nr_pairs;
	u32 nr_cells;
	u32 nr_fdes;		/* that it was compiled from */
	u32 nr_bad;		/* records left out: damaged, or not expressible in a table */
	u32 eh_frame_len;	/* bytes of .eh_frame, up to where the compiler could read it */
	u32 index_off;		/* u32[] */
	u32 cells_off;		/* struct kuw_cell[] */
	u32 pairs_off;		/* u32[nr_pairs], see kuw_pair() */
	u32 saves_off;		/* struct kuw_saves[] */
	u32 full_off;		/* struct kuw_rules[nr_full] */
	u32 expr_off;		/* the pool of expressions */
	u32 expr_len;		/* its bytes */
	u32 nr_segments;	/* executable ones */
	u32 segments_off;	/* struct kuw_segment[] */
	u32 word;		/* bytes of a word: 8, or 4 in a file for i386 */
	struct kuw_rule rules[];	/* by rank */
};

static inline const void *kuw_table_at(const struct kuw_table *table, u32 off)
{
	return (const u8 *)table + off;
}

/* Return: all that a rule of KUW_KIND_FULL or KUW_KIND_END says. */
static inline const struct kuw_rules *kuw_table_full(const struct kuw_table *table,
						     struct kuw_rule rule)
{
	const struct kuw_rules *full = kuw_table_at(table, table->full_off);

	/* That the rule is of these kinds may have been mispredicted. */
	return &full[kuw_port_index(rule.bits >> 3, table->nr_full)];
}

/* An entry, or a part of one. */
struct kuw_cell {
	u8 low;
	u8 code;
};

/* The parts of a table in which look-ups search. */
struct kuw_look {
	const struct kuw_table *table;
	const u32 *index;
	const struct kuw_cell *cells;
};

static inline struct kuw_look kuw_table_look(const struct kuw_table *table)
{
	return (struct kuw_look){
		.table = table,
		.index = kuw_table_at(table, table->index_off),
		.cells = kuw_table_at(table, table->cells_off),
	};
}

/* The cells of a bucket. */
struct kuw_bucket {
	const struct kuw_cell *cells;
	u32 n;
};

/* Return: the bucket of an offset, which is below the table's span. */
static inline struct kuw_bucket kuw_bucket_of(const struct kuw_look *look, u32 off)
{
	const u64 bucket = off >> KUW_BUCKET_SHIFT, start = look->index[bucket];

	return (struct kuw_bucket){
		.cells = look->cells + start,
		.n = look->index[bucket + 1] - start,
	};
}

/*
 * Return: the number of the rule that an entry has at an offset. @last: the entry's last cell. That
 * may have been mispredicted: it is any cell of the table. @starts: whether the entry starts in
 * the offset's bucket.
 */
static inline u32 kuw_rule_number(const struct kuw_table *table, const struct kuw_cell *last,
				  u32 off, bool starts)
{
	const u32 *pairs = kuw_table_at(table, table->pairs_off);
	u32 code = last->code, past, pair;

	if (code == KUW_CODE_LONGEST)
		return kuw_port_index(last[-1].code << 8 | last[-2].code, table->nr_rules);
	if (code >= KUW_CODE_LONG)
		return kuw_port_index((code - KUW_CODE_LONG) << 8 | last[-1].code,
				      table->nr_rules);
	/* If the entry starts in an earlier bucket, its last row holds. */
	past = starts ? (u8)off - last->low : U8_MAX;
	while (code >= KUW_CODE_PAIR) {
		pair = pairs[kuw_port_index(code - KUW_CODE_PAIR, table->nr_pairs)];
		code = (u8)(past >= pair >> 16 ? pair >> 8 : pair);
	}
	return code;
}

/*
 * Return: the rule that holds at an offset from the base; rule 0, which is KUW_KIND_NONE, if there
 * is none.
 */
struct kuw_rule kuw_table_find(const struct kuw_table *table, u64 off);

/* Return: whether an entry starts at an offset from the base. */
bool kuw_table_starts(const struct kuw_table *table, u64 off);

/* Say in full what a rule of a table says. */
void kuw_table_expand(const struct kuw_table *table, struct kuw_rule rule,
		      struct kuw_rules *rules);

/* Return: the @len bytes of the expression of a loc of KUW_EXPR or KUW_EXPR_MEM. */
const u8 *kuw_table_expr(const struct kuw_table *table,
			 const struct kuw_loc *loc, u32 *len);

/*
 * Where a mapping of @len bytes at @start puts the addresses of the file, of which the offset
 * @off is at its start. @bias: address in memory minus address in the file, modulo 2^64.
 * Return: false if no executable segment of the file is at @off, or if two segments fit and
 * nothing tells which one is meant.
 */
bool kuw_table_bias(const struct kuw_table *table, u64 start, u64 len, u64 off,
		    u64 *bias);

#endif /* KUW_TABLE_H */

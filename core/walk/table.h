/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The unwind table of one file: immutable, position-independent, one block.
 *
 * Addresses in it are offsets from @base. A row starts at an offset and holds until the
 * next one. Text is cut into blocks of 32 KiB, and these into buckets of 256 bytes. So a
 * look-up reads two indexes, and counts bytes:
 *
 *	blocks[offset >> 15]	where the block's chunk is; or, if no row starts in the
 *				block, the rule that holds: see kuw_block_rule()
 *	chunk:	u16 index[]		entries of the block before each bucket, and of the
 *				whole block. It ends where the chunk starts, and is
 *				read backwards, as the last block has fewer buckets
 *		u8 carry[3]		the code of the rule that holds at its start
 *		per bucket of n entries:
 *			u8 low[n]	low bytes of the entries' offsets, ascending
 *			u8 code[n]	their codes
 *
 * An entry is a row or a run. A run is several rows that follow each other closely, as in a
 * prologue or an epilogue. The file has the same distances and rules in many places. Only the
 * first row of a run has an offset of its own. A run starts and ends in one bucket, and its
 * last row holds until the next entry.
 *
 * A code is a number by frequency. Below KUW_CODE_RUN it is that of a rule, below
 * KUW_CODE_LONG that of a run. All other numbers have more bytes. There, runs count from
 * where rules end. The code's own byte comes last. The entry takes as many places as the code
 * has bytes, with its low byte in each. So the bytes before a bucket are always the code that
 * holds if no entry of the bucket starts at or before the offset.
 *
 * The table ends with at least 8 bytes of padding: look-ups read 8 at a time.
 */
#ifndef KUW_TABLE_H
#define KUW_TABLE_H

#include "kunwind_port.h"
#include "elf.h"
#include "rule.h"

#define KUW_BLOCK_SHIFT		15
#define KUW_BUCKET_SHIFT	8
#define KUW_BUCKETS		(1u << (KUW_BLOCK_SHIFT - KUW_BUCKET_SHIFT))
#define KUW_CARRY_BYTES		3
#define KUW_CODE_RUN		160
#define KUW_CODE_LONG		224	/* the byte before it is the number's lowest */
#define KUW_CODE_LONGEST	255	/* two bytes before it are the number */
#define KUW_TABLE_PAD		8

/* How a rule's CFA is found. */
enum kuw_rule_kind {
	KUW_KIND_RSP,		/* CFA = rsp + words */
	KUW_KIND_RBP,		/* CFA = rbp + words */
	KUW_KIND_NONE,		/* no FDE */
	KUW_KIND_EXT,		/* anything else: see struct kuw_ext */
	KUW_KIND_END = 7,	/* the same, with an undefined return address: no caller */
};

/**
 * struct kuw_rule - a rule as the walk applies it
 * @bits: from the lowest: 3 bits enum kuw_rule_kind; 16 bits words from the register to
 *	the CFA; 8 bits index of its struct kuw_saves; 5 bits signed words from the CFA to
 *	the saved rbp, 0 if rbp is unchanged.
 *	For KUW_KIND_EXT and KUW_KIND_END: 29 bits index of its struct kuw_ext among the locs
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

static inline u32 kuw_rule_ext(struct kuw_rule rule)
{
	return rule.bits >> 3;
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

/**
 * struct kuw_ext - a rule in full
 * @nr_locs: how many registers are listed. The others are unchanged, and an unlisted return
 *	address is a word below the CFA
 * @signal: it is a signal frame
 * @locs: [0] is that of the CFA; those of the registers follow
 */
struct kuw_ext {
	u32 nr_locs;
	u32 signal;
	struct kuw_loc locs[];
};

/* A block's word is a byte offset into the table, which is even; or a rule, made odd. */
static inline u32 kuw_block_rule(u32 rule)
{
	return rule << 1 | 1;
}

/**
 * struct kuw_table - the header
 * @base: file address of offset 0
 * @span: bytes of text from there to the end of the last row
 * @bytes: of the whole table
 * @nr_rows: rows
 * @nr_rules: rules
 * @nr_runs: runs
 * @nr_run_rows: rows of all runs
 * @nr_fdes: FDEs that it was compiled from
 * @nr_bad: records that were left out: damaged, or not expressible in a table
 * @eh_frame_len: bytes of .eh_frame
 * @blocks_off: u32[], see kuw_block_rule()
 * @saves_off: struct kuw_saves[]
 * @locs_off: struct kuw_loc[], which hold the struct kuw_ext
 * @runs_off: u16 first[nr_runs + 1], of the rows that follow: u16 rule[nr_run_rows],
 *	u8 offset[nr_run_rows] from the run's first row
 * @expr_off: the pool of expressions
 * @expr_len: its bytes
 * @nr_segments: executable segments
 * @segments_off: struct kuw_segment[]
 * @word: bytes of a word: 8, or 4 in a file for i386
 * @reserved: 0
 * @rules: by rank
 */
struct kuw_table {
	u64 base;
	u64 span;
	u32 bytes;
	u32 nr_rows;
	u32 nr_rules;
	u32 nr_runs;
	u32 nr_run_rows;
	u32 nr_fdes;
	u32 nr_bad;
	u32 eh_frame_len;
	u32 blocks_off;
	u32 saves_off;
	u32 locs_off;
	u32 runs_off;
	u32 expr_off;
	u32 expr_len;
	u32 nr_segments;
	u32 segments_off;
	u32 word;
	u32 reserved;
	struct kuw_rule rules[];
};

static inline const void *kuw_table_at(const struct kuw_table *table, u32 off)
{
	return (const u8 *)table + off;
}

static inline const struct kuw_ext *kuw_table_ext(const struct kuw_table *table,
						  u32 index)
{
	return kuw_table_at(table, table->locs_off +
			    index * (u32)sizeof(struct kuw_loc));
}

/*
 * Return: bit 7 of each byte that is greater than @byte. That is the carry of its sum with
 * 255 - @byte. The sums are halved, so that they cannot carry into the next byte.
 */
static __always_inline u64 kuw_bytes_above(u64 bytes, u8 byte)
{
	const u64 ones = 0x0101010101010101ULL;
	u64 rest = (u8)~byte * ones;

	return ((bytes & rest) + (((bytes ^ rest) >> 1) & 0x7f * ones)) &
	       0x80 * ones;
}

/* How many of the @n ascending bytes at @low are at most @byte. */
static __always_inline u32 kuw_count_le(const u8 *low, u32 n, u8 byte)
{
	u64 above = kuw_bytes_above(get_unaligned_le64(low), byte);
	u32 count = 0;

	for (;;) {
		/* A stop bit after the last byte, so that the count ends there. */
		if (n - count < 8)
			above |= 1ULL << (8 * (n - count) + 7);
		if (likely(above))
			return count + __builtin_ctzll(above) / 8;
		count += 8;
		above = kuw_bytes_above(get_unaligned_le64(low + count), byte);
	}
}

static inline const u32 *kuw_table_blocks(const struct kuw_table *table)
{
	return kuw_table_at(table, table->blocks_off);
}

/*
 * The rule of an entry whose code is not a rule's own byte. The entry is the @count-th of the
 * @n entries of the bucket at @low; if @count is 0, it is the one before the bucket. @byte is
 * the low byte of the offset.
 */
struct kuw_rule kuw_table_coded(const struct kuw_table *table, const u8 *low,
				u32 n, u32 count, u8 byte);

/**
 * kuw_table_look() - the rule that holds at an offset
 * @table: the table
 * @blocks: kuw_table_blocks() of it
 * @off: offset from its base, below its span
 *
 * Return: the rule; if no FDE covers the offset, rule 0, which is KUW_KIND_NONE.
 */
static __always_inline struct kuw_rule
kuw_table_look(const struct kuw_table *table, const u32 *blocks, u32 off)
{
	u32 bucket = (off >> KUW_BUCKET_SHIFT) & (KUW_BUCKETS - 1);
	u32 block = blocks[off >> KUW_BLOCK_SHIFT];
	u32 before, n, count, code;
	const u16 *index;
	const u8 *low;

	if (unlikely(block & 1))
		return table->rules[block >> 1];
	low = kuw_table_at(table, block);
	index = (const u16 *)low - 1 - bucket;
	before = index[0];
	n = index[-1] - before;
	low += KUW_CARRY_BYTES + 2 * before;
	count = kuw_count_le(low, n, off);
	code = low[(int)(count ? n + count : 0) - 1];
	if (unlikely(code >= KUW_CODE_RUN))
		return kuw_table_coded(table, low, n, count, off);
	return table->rules[code];
}

static inline struct kuw_rule kuw_table_find(const struct kuw_table *table, u32 off)
{
	return kuw_table_look(table, kuw_table_blocks(table), off);
}

/**
 * kuw_table_rules() - everything that the table knows about an address
 * @table: the table
 * @vaddr: file address
 * @rules: the answer
 *
 * For tests and tools; the walk uses kuw_table_look().
 */
void kuw_table_rules(const struct kuw_table *table, u64 vaddr,
		     struct kuw_rules *rules);

/**
 * kuw_table_expr() - the bytes of an expression
 * @table: the table
 * @loc: a loc of KUW_EXPR or KUW_EXPR_MEM
 * @len: how many bytes
 *
 * Return: the bytes, or NULL if there is no such expression.
 */
const u8 *kuw_table_expr(const struct kuw_table *table,
			 const struct kuw_loc *loc, u32 *len);

/**
 * kuw_table_bias() - where a mapping of the file puts its addresses
 * @table: the file's table
 * @start: first address of the mapping
 * @len: its bytes
 * @off: the file offset mapped at @start
 * @bias: address in memory minus address in the file, modulo 2^64
 *
 * Return: false if no executable segment of the file is at @off, or if two segments fit and
 *	nothing tells which one is meant.
 */
bool kuw_table_bias(const struct kuw_table *table, u64 start, u64 len, u64 off,
		    u64 *bias);

#endif /* KUW_TABLE_H */

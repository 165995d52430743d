/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What walks found lately: the frequent rules by address. A look into a table is
 * a chain of four dependent loads, and the memo is exact, too.
 *
 * Entries lie in the order in which a walk met them. Stacks have most of their
 * frames in common, so behind the entry of a frame there is nearly always that
 * of its caller: the processor has loaded it before the return address is known,
 * which then has to be compared only. Where the order breaks, an index finds the
 * entry by its address.
 *
 * A memo serves one walk at a time: its owner has one for each CPU and level of
 * nesting. Entries are of one address map only. Another map makes them old by
 * a new epoch, and a map that is replaced has a new number.
 */
#ifndef KUW_MEMO_H
#define KUW_MEMO_H

#include "map.h"
#include "table.h"

#define KUW_MEMO_ENTRIES	512

/* What a rule is. */
enum kuw_memo_what {
	KUW_MEMO_RSP,		/* the CFA is found by rsp */
	KUW_MEMO_RBP,		/* by rbp */
	KUW_MEMO_OUTERMOST,	/* the stack ends here: it has no return address */
	KUW_MEMO_EPOCH = 4,	/* from one epoch to the next */
};

/**
 * struct kuw_memo_entry - a rule, decoded
 * @pc: of which address
 * @cfa: words from the register to the CFA
 * @rbp: words from the CFA to the saved rbp, 0 if rbp is unchanged
 * @reserved: 0
 * @tag: the epoch, plus enum kuw_memo_what; see kuw_memo_use()
 * @slot: of the index, not of this entry: the number of an entry whose address
 *	leads here; see kuw_memo_find()
 *
 * 16 bytes, so that four of a stack are in a cache line.
 */
struct kuw_memo_entry {
	u64 pc;
	s16 cfa;
	s8 rbp;
	u8 reserved;
	u16 tag;
	u16 slot;
};

/**
 * struct kuw_memo - a memo; its entries follow
 * @map: kuw_map.number of the map that it is for
 * @epoch: of the entries that are; never 0 after the first use
 * @next: the entry that is overwritten next
 * @order: it has KUW_MEMO_ENTRIES << order entries, and behind them one that is
 *	never of any address
 * @reserved: 0
 *
 * Valid if all but @order is zero. Entries are in the order in which they were
 * made, around and around.
 */
struct kuw_memo {
	u64 map;
	u16 epoch;
	u16 next;
	u16 order;
	u16 reserved;
};

/* The smallest one, with its entries. */
struct kuw_small_memo {
	struct kuw_memo memo;
	struct kuw_memo_entry entries[KUW_MEMO_ENTRIES + 1];
};

static inline u32 kuw_memo_count(const struct kuw_memo *memo)
{
	return KUW_MEMO_ENTRIES << memo->order;
}

static inline u64 kuw_memo_bytes(u32 order)
{
	return sizeof(struct kuw_memo) + sizeof(struct kuw_memo_entry) *
	       ((KUW_MEMO_ENTRIES << order) + 1);
}

static inline struct kuw_memo_entry *kuw_memo_entries(struct kuw_memo *memo)
{
	return (struct kuw_memo_entry *)(memo + 1);
}

/* From now on the entries are of @map. Return: the epoch. */
static inline u16 kuw_memo_use(struct kuw_memo *memo, const struct kuw_map *map)
{
	if (unlikely(memo->map != map->number)) {
		memo->map = map->number;
		memo->epoch += KUW_MEMO_EPOCH;
		/* The ones that are in the CPU's caches. */
		memo->next = 0;
		/* After 2^14 other maps, old entries would look valid. */
		if (unlikely(!memo->epoch)) {
			memset(kuw_memo_entries(memo), 0,
			       sizeof(struct kuw_memo_entry) * kuw_memo_count(memo));
			memo->epoch = KUW_MEMO_EPOCH;
		}
	}
	return memo->epoch;
}

/* Of an entry of another epoch it is greater than all of them. */
static __always_inline u32 kuw_memo_what(const struct kuw_memo_entry *entry,
					 u32 epoch)
{
	return entry->tag - epoch;
}

/*
 * Where the index has @pc: in the slot of the entry of this number, or of its
 * neighbour's (its lowest bit inverted). Functions are tens of bytes apart, so
 * the low bits tell most.
 */
static inline u32 kuw_memo_hash(const struct kuw_memo *memo, u64 pc)
{
	return (pc ^ pc >> 10) & (kuw_memo_count(memo) - 1);
}

/* Return: the entry of @pc, or NULL. */
static __always_inline const struct kuw_memo_entry *
kuw_memo_find(struct kuw_memo *memo, u64 pc, u32 epoch)
{
	struct kuw_memo_entry *entries = kuw_memo_entries(memo), *entry;
	u32 hash = kuw_memo_hash(memo, pc), i;

	for (i = 0; i < 2; i++) {
		entry = &entries[entries[hash ^ i].slot];
		if (entry->pc == pc &&
		    kuw_memo_what(entry, epoch) <= KUW_MEMO_OUTERMOST)
			return entry;
	}
	return NULL;
}

/* Return: the entry that is now of @pc; the caller fills in the rule. */
static inline struct kuw_memo_entry *kuw_memo_add(struct kuw_memo *memo, u64 pc)
{
	struct kuw_memo_entry *entries = kuw_memo_entries(memo);
	u32 hash = kuw_memo_hash(memo, pc), next = memo->next;

	/* The older one of two is forgotten. */
	entries[hash ^ 1].slot = entries[hash].slot;
	entries[hash].slot = next;
	memo->next = (next + 1) & (kuw_memo_count(memo) - 1);
	entries[next].pc = pc;
	return &entries[next];
}

#endif /* KUW_MEMO_H */

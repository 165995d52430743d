/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What walks found lately: the frequent rules by address. A look into a table is
 * a chain of four dependent loads, and the memo is exact, too.
 *
 * Entries lie in the order in which a walk met them. Stacks have most of their
 * frames in common, so behind the entry of a frame there is nearly always that
 * of its caller: the processor has loaded it before the return address is known,
 * which then has to be compared only. Where the order breaks, an index finds the
 * entry by its address. A stack that has grown since, or whose frames were met one by
 * one, breaks it again and again: when it comes a second time, its entries are written
 * once more, in its own order.
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
/* Places of the index where an address can be. */
#define KUW_MEMO_WAYS		4
/* How often a stack may break the order: where it begins, and where another one has it. */
#define KUW_MEMO_BREAKS		2
/*
 * Of so many walks one mends the order, which takes two to three times as long: stacks
 * that take turns may have the same frames in different orders.
 */
#define KUW_MEMO_SKIP		64

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
 * @reserved2: 0
 *
 * 16 bytes, so that four of a stack are in a cache line.
 */
struct kuw_memo_entry {
	u64 pc;
	s16 cfa;
	s8 rbp;
	u8 reserved;
	u16 tag;
	u16 reserved2;
};

/**
 * struct kuw_memo - a memo; its entries follow, and its index
 * @map: kuw_map.number of the map that it is for
 * @epoch: of the entries that are; never 0 after the first use
 * @next: the entry that is overwritten next
 * @order: it has KUW_MEMO_ENTRIES << order entries, and behind them one that is
 *	never of any address
 * @broken: the last walk has broken the order
 * @skip: how many walks are not to mend the order, as another one has just done so
 *
 * Valid if all but @order is zero. Entries are in the order in which they were
 * made, around and around.
 */
struct kuw_memo {
	u64 map;
	u16 epoch;
	u16 next;
	u16 order;
	u8 broken;
	u8 skip;
};

/* The smallest one, with its entries. */
struct kuw_small_memo {
	struct kuw_memo memo;
	struct kuw_memo_entry entries[KUW_MEMO_ENTRIES + 1];
	u32 index[KUW_MEMO_ENTRIES];
};

static inline u32 kuw_memo_count(const struct kuw_memo *memo)
{
	return KUW_MEMO_ENTRIES << memo->order;
}

static inline u64 kuw_memo_bytes(u32 order)
{
	u64 count = KUW_MEMO_ENTRIES << order;

	return sizeof(struct kuw_memo) + sizeof(u32) * count +
	       sizeof(struct kuw_memo_entry) * (count + 1);
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
 * The KUW_MEMO_WAYS places of the index where @pc can be, the newest first. Functions
 * are tens of bytes apart, so the low bits tell most.
 */
static inline u32 *kuw_memo_places(struct kuw_memo *memo, u64 pc)
{
	u32 count = kuw_memo_count(memo);
	u32 *index = (u32 *)(kuw_memo_entries(memo) + count + 1);

	return index + ((pc ^ pc >> 10) & (count - KUW_MEMO_WAYS));
}

/*
 * What a place has of @pc and the epoch beside the number of the entry, in its lower
 * half: an entry of another epoch, or of another address, is not looked at.
 */
static inline u32 kuw_memo_mark(u64 pc, u32 epoch)
{
	return (u32)(pc >> 12 ^ epoch) << 16;
}

/* Return: the entry that @place leads to if it is of @pc, or NULL. */
static __always_inline const struct kuw_memo_entry *
kuw_memo_at(const struct kuw_memo_entry *entries, u32 place, u32 mark, u64 pc, u32 epoch)
{
	const struct kuw_memo_entry *entry = &entries[(u16)place];

	if (likely((place ^ mark) > (u16)-1))
		return NULL;
	return entry->pc == pc && kuw_memo_what(entry, epoch) <= KUW_MEMO_OUTERMOST ?
	       entry : NULL;
}

/* Return: the entry of @pc, or NULL. */
static __always_inline const struct kuw_memo_entry *
kuw_memo_find(struct kuw_memo *memo, u64 pc, u32 epoch)
{
	const struct kuw_memo_entry *entries = kuw_memo_entries(memo), *entry;
	const u32 *places = kuw_memo_places(memo, pc);
	u32 mark = kuw_memo_mark(pc, epoch);

	entry = kuw_memo_at(entries, places[0], mark, pc, epoch);
	if (!entry)
		entry = kuw_memo_at(entries, places[1], mark, pc, epoch);
	if (!entry)
		entry = kuw_memo_at(entries, places[2], mark, pc, epoch);
	if (!entry)
		entry = kuw_memo_at(entries, places[3], mark, pc, epoch);
	return entry;
}

/* Return: the entry that is now of @pc; the caller fills in the rule. */
static inline struct kuw_memo_entry *kuw_memo_add(struct kuw_memo *memo, u64 pc)
{
	struct kuw_memo_entry *entry = &kuw_memo_entries(memo)[memo->next];
	u32 *places = kuw_memo_places(memo, pc);

	/* The oldest one is forgotten. */
	places[3] = places[2];
	places[2] = places[1];
	places[1] = places[0];
	places[0] = kuw_memo_mark(pc, memo->epoch) | memo->next;
	memo->next = (memo->next + 1) & (kuw_memo_count(memo) - 1);
	entry->pc = pc;
	return entry;
}

/* Make @entry the last one that was added, by a copy if it is not. Return: it. */
static inline const struct kuw_memo_entry *
kuw_memo_repeat(struct kuw_memo *memo, const struct kuw_memo_entry *entry)
{
	struct kuw_memo_entry *entries = kuw_memo_entries(memo);
	u32 mask = kuw_memo_count(memo) - 1, next = memo->next, i;
	u32 *places = kuw_memo_places(memo, entry->pc);

	if (entry == &entries[(next - 1) & mask])
		return entry;
	/* If the index does not have it any more, the order will do. */
	for (i = 0; i < KUW_MEMO_WAYS; i++)
		if ((u16)places[i] == entry - entries)
			places[i] += next - (u16)places[i];
	entries[next] = *entry;
	memo->next = (next + 1) & mask;
	return &entries[next];
}

#endif /* KUW_MEMO_H */

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
 * nesting. Entries are of one address map only. Another map empties it, and a map
 * that is replaced has a new number. Rules that an entry has no room for (0.01 % of
 * libLLVM's: frames of 32 KiB and more) are not kept.
 */
#ifndef KUW_MEMO_H
#define KUW_MEMO_H

#include "map.h"
#include "table.h"

/* The smallest one: a half is its entries, the other one its index. */
#define KUW_MEMO_BYTES		8192
/* Places of the index where an address can be; kuw_memo_find() and kuw_memo_add() name each. */
#define KUW_MEMO_WAYS		4
/* How often a stack may break the order: where it begins, and where another one has it. */
#define KUW_MEMO_BREAKS		2
/*
 * To mend the order takes as long as two to three walks. Of so many walks one does, as
 * stacks that take turns may have the same frames in different orders; up to four do in
 * a row, as a program may come back to stacks that are new to it.
 */
#define KUW_MEMO_SKIP		64
#define KUW_MEMO_DEBT		255

/*
 * The fields of an entry. Bits 0 to 2: words from the CFA down to the saved rbp, 0 if it
 * is unchanged. 3 to 14: bytes from a register to the CFA, which are whole words. 15:
 * that register is rbp, not rsp. 16 to 63: the address. Where the CFA is 0 bytes away,
 * as no rule says that gets on, the stack ends at the address. All bits of what is behind
 * the last entry that was added are 0.
 */
#define KUW_MEMO_RBP_MAX	7
#define KUW_MEMO_CFA_MAX	4095
#define KUW_MEMO_BY_RBP		0x8000
#define KUW_MEMO_PC_SHIFT	16
#define KUW_MEMO_PC_BITS	48

/**
 * struct kuw_memo_entry - a rule and its address, in 8 bytes: eight are in a cache line
 * @bits: see above
 */
struct kuw_memo_entry {
	u64 bits;
};

/**
 * struct kuw_memo - a memo, apart from its memory, so that the way there is short
 * @map: kuw_map.number of the map that it is for
 * @entries: kuw_memo_bytes(@order), aligned as kmalloc() does; the index is behind them
 * @next: the entry that is overwritten next
 * @used: how many entries are of @map
 * @epoch: how often that number began anew: what the index had before is not looked at,
 *	or but once in a while
 * @order: it has KUW_MEMO_BYTES << @order bytes
 * @broken: the last walk has broken the order
 * @debt: how many walks have yet to pay for those that have mended the order, at most
 *	KUW_MEMO_DEBT
 *
 * Valid if all but @entries and @order is zero, and what is there as well. Entries are
 * in the order in which they were made, around and around.
 */
struct kuw_memo {
	u64 map;
	struct kuw_memo_entry *entries;
	u16 next;
	u16 used;
	u8 epoch;
	u8 order;
	u8 broken;
	u8 debt;
};

static inline u32 kuw_memo_bytes(u32 order)
{
	return KUW_MEMO_BYTES << order;
}

/* There is room for one more, of 0 bits. */
static inline u32 kuw_memo_count(const struct kuw_memo *memo)
{
	return kuw_memo_bytes(memo->order) / 2 / sizeof(struct kuw_memo_entry) - 1;
}

/* From now on the entries are of @map. */
static inline void kuw_memo_use(struct kuw_memo *memo, const struct kuw_map *map)
{
	if (likely(memo->map == map->number))
		return;
	memo->map = map->number;
	memo->epoch++;
	memo->used = 0;
	/* Those that are in the CPU's caches. */
	memo->next = 0;
	memo->entries->bits = 0;
}

static __always_inline u64 kuw_memo_pc(struct kuw_memo_entry entry)
{
	return entry.bits >> KUW_MEMO_PC_SHIFT;
}

/* Return: bytes from the register to the CFA. */
static __always_inline s64 kuw_memo_cfa(struct kuw_memo_entry entry)
{
	return entry.bits & KUW_MEMO_CFA_MAX * KUW_WORD;
}

/* Return: whether it has no rule: the stack ends there, or all bits are 0. */
static __always_inline bool kuw_memo_is_last(struct kuw_memo_entry entry)
{
	return !kuw_memo_cfa(entry);
}

/* Return: bytes from the CFA to the saved rbp, 0 if rbp is unchanged. */
static __always_inline s64 kuw_memo_rbp(struct kuw_memo_entry entry)
{
	return -(s64)(entry.bits & KUW_MEMO_RBP_MAX) * KUW_WORD;
}

/*
 * The KUW_MEMO_WAYS places of the index where @pc can be, the newest first. Functions
 * are tens of bytes apart, so the low bits tell most. There are two for each entry: with
 * one, a fifth of 10,000 addresses in a row had lost its place when it came again; so,
 * one in thirty.
 */
static inline u32 *kuw_memo_places(struct kuw_memo *memo, u64 pc)
{
	u32 half = kuw_memo_bytes(memo->order) / 2;
	u32 *index = (u32 *)((u8 *)memo->entries + half);

	return index + ((pc ^ pc >> 10) & (half / sizeof(u32) - KUW_MEMO_WAYS));
}

/*
 * What a place has of @pc and the epoch beside the number of the entry, in its lower
 * half: an entry of another address is not looked at.
 */
static inline u32 kuw_memo_mark(const struct kuw_memo *memo, u64 pc)
{
	return (u32)(pc >> 12 ^ memo->epoch) << 16;
}

/* Return: the entry that @place leads to if it is of @pc, or NULL. */
static __always_inline const struct kuw_memo_entry *
kuw_memo_at(const struct kuw_memo_entry *entries, u32 used, u32 place, u32 mark, u64 pc)
{
	const struct kuw_memo_entry *entry = &entries[(u16)place];

	if (likely((place ^ mark) > (u16)-1))
		return NULL;
	return (u16)place < used && kuw_memo_pc(*entry) == pc ? entry : NULL;
}

/* Return: the entry of @pc, or NULL. */
static __always_inline const struct kuw_memo_entry *
kuw_memo_find(struct kuw_memo *memo, u64 pc)
{
	const struct kuw_memo_entry *entries = memo->entries, *entry;
	const u32 *places = kuw_memo_places(memo, pc);
	u32 mark = kuw_memo_mark(memo, pc), used = memo->used;

	entry = kuw_memo_at(entries, used, places[0], mark, pc);
	if (!entry)
		entry = kuw_memo_at(entries, used, places[1], mark, pc);
	if (!entry)
		entry = kuw_memo_at(entries, used, places[2], mark, pc);
	if (!entry)
		entry = kuw_memo_at(entries, used, places[3], mark, pc);
	return entry;
}

/* Return: the entry that is the last one now. */
static inline const struct kuw_memo_entry *
kuw_memo_push(struct kuw_memo *memo, struct kuw_memo_entry entry)
{
	u32 next = memo->next;
	struct kuw_memo_entry *at = &memo->entries[next++];

	*at = entry;
	if (next > memo->used) {
		memo->used = next;
		at[1].bits = 0;
	}
	memo->next = next == kuw_memo_count(memo) ? 0 : next;
	return at;
}

/* Return: the entry that is now of its address. */
static inline const struct kuw_memo_entry *
kuw_memo_add(struct kuw_memo *memo, struct kuw_memo_entry entry)
{
	u64 pc = kuw_memo_pc(entry);
	u32 *places = kuw_memo_places(memo, pc);

	/* The oldest one is forgotten. */
	places[3] = places[2];
	places[2] = places[1];
	places[1] = places[0];
	places[0] = kuw_memo_mark(memo, pc) | memo->next;
	return kuw_memo_push(memo, entry);
}

/* Make @entry the last one that was added, by a copy if it is not. */
static inline void kuw_memo_repeat(struct kuw_memo *memo,
				   const struct kuw_memo_entry *entry)
{
	u32 *places = kuw_memo_places(memo, kuw_memo_pc(*entry));
	u16 number = entry - memo->entries;
	u32 i;

	if (number == (memo->next ?: kuw_memo_count(memo)) - 1)
		return;
	/* If the index does not have it any more, the order will do. */
	for (i = 0; i < KUW_MEMO_WAYS; i++)
		if ((u16)places[i] == number)
			places[i] += memo->next - number;
	kuw_memo_push(memo, *entry);
}

#endif /* KUW_MEMO_H */

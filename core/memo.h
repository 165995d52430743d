/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A memo remembers rules that walks have looked up, by address. A look-up in a table is a
 * chain of four dependent loads. The memo avoids most of them, and is as exact.
 *
 * Entries are in the order in which a walk met them. Stacks have most of their frames in
 * common, so the entry after that of a frame is nearly always that of its caller. The
 * processor loads it before the return address is known, and then only has to compare.
 * Where the order breaks, an index finds the entry by its address. Some stacks break the
 * order again and again: those that have grown since, or whose frames were met one by one.
 * When such a stack comes a second time, its entries are written once more, in its own
 * order.
 *
 * A memo serves one walk at a time: its owner has one for each CPU and level of nesting.
 * All entries are of one address map. A walk with another map empties the memo, and a map
 * that replaces another one has a new number. An entry has no room for some rules: frames
 * of 32 KiB and more (0.01 % of libLLVM's), and an rbp that is saved more than
 * KUW_MEMO_RBP_MAX words below the CFA.
 */
#ifndef KUW_MEMO_H
#define KUW_MEMO_H

#include "map.h"
#include "table.h"

/* Bytes of the smallest memo. One half has the entries, the other half the index. */
#define KUW_MEMO_BYTES		8192
/* Places of the index per address. kuw_memo_find() and kuw_memo_add() list all four. */
#define KUW_MEMO_WAYS		4
/* How often a good stack breaks the order: where it starts, and where it joins a known one. */
#define KUW_MEMO_BREAKS		2
/*
 * Mending the order takes as long as two to three walks. Only one walk in KUW_MEMO_SKIP may
 * do it, as stacks that take turns may have the same frames in different orders. But up to
 * four may do it in a row, as a program may switch to stacks that are new to the memo.
 */
#define KUW_MEMO_SKIP		64
#define KUW_MEMO_DEBT		255

/*
 * The fields of an entry. Bits 0 to 2: words from the CFA down to the saved rbp, 0 if rbp
 * is unchanged. 3 to 14: bytes from a register to the CFA, in whole words. 15: that
 * register is rbp, not rsp. 16 to 63: the address. If the CFA is 0 bytes away, which no
 * usable rule says, the stack ends at the address. The entry after the last one is all 0.
 */
#define KUW_MEMO_RBP_MAX	7
#define KUW_MEMO_CFA_MAX	4095
#define KUW_MEMO_BY_RBP		0x8000
#define KUW_MEMO_PC_SHIFT	16
#define KUW_MEMO_PC_BITS	48

/**
 * struct kuw_memo_entry - a rule and its address, so that a cache line has eight
 * @bits: see above
 */
struct kuw_memo_entry {
	u64 bits;
};

/**
 * struct kuw_memo - the head of a memo, apart from its memory, to save a load
 * @map: kuw_map.number of the map that the entries are of
 * @entries: kuw_memo_bytes(@order) of memory, aligned as by kmalloc(): the entries, and
 *	after them the index
 * @next: the entry to overwrite next
 * @used: how many entries are of @map
 * @epoch: changes with @map, so that old places of the index nearly never match; if one
 *	does, the entry is compared
 * @order: the memory has KUW_MEMO_BYTES << @order bytes
 * @broken: the last walk broke the order
 * @debt: how many walks must pass for those that have mended the order, at most
 *	KUW_MEMO_DEBT
 *
 * The owner sets @entries and @order; all other fields, and the memory, start as zero.
 * Entries are in the order in which they were made, in a ring.
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

/* How many entries there are at most, with room for a zero after them. */
static inline u32 kuw_memo_count(const struct kuw_memo *memo)
{
	return kuw_memo_bytes(memo->order) / 2 / sizeof(struct kuw_memo_entry) - 1;
}

/* Empty the memo unless its entries are of @map. */
static inline void kuw_memo_use(struct kuw_memo *memo, const struct kuw_map *map)
{
	if (likely(memo->map == map->number))
		return;
	memo->map = map->number;
	memo->epoch++;
	memo->used = 0;
	/* Start where the entries are in the CPU's caches. */
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
 * The KUW_MEMO_WAYS places of the index where @pc can be, the newest first. Functions are
 * tens of bytes apart, so the low bits differ most. There are two places for each entry.
 * When 10,000 addresses in a row come again, one in thirty has lost its place; with one
 * place for each entry, a fifth has.
 */
static inline u32 *kuw_memo_places(struct kuw_memo *memo, u64 pc)
{
	u32 half = kuw_memo_bytes(memo->order) / 2;
	u32 *index = (u32 *)((u8 *)memo->entries + half);

	return index + ((pc ^ pc >> 10) & (half / sizeof(u32) - KUW_MEMO_WAYS));
}

/*
 * The upper half of a place, made from @pc and the epoch. If it differs, the entry, whose
 * number is in the lower half, need not be loaded.
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

/* Add @entry after the last one. Return: its place. */
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

/* Add @entry and put it into the index. Return: its place. */
static inline const struct kuw_memo_entry *
kuw_memo_add(struct kuw_memo *memo, struct kuw_memo_entry entry)
{
	u64 pc = kuw_memo_pc(entry);
	u32 *places = kuw_memo_places(memo, pc);

	/* Forget the oldest of the four. */
	places[3] = places[2];
	places[2] = places[1];
	places[1] = places[0];
	places[0] = kuw_memo_mark(memo, pc) | memo->next;
	return kuw_memo_push(memo, entry);
}

/* Make @entry, or a copy of it, the last one that was added. */
static inline void kuw_memo_repeat(struct kuw_memo *memo,
				   const struct kuw_memo_entry *entry)
{
	u32 *places = kuw_memo_places(memo, kuw_memo_pc(*entry));
	u16 number = entry - memo->entries;
	u32 i;

	if (number == (memo->next ?: kuw_memo_count(memo)) - 1)
		return;
	/* If the index has lost it, walks still find the copy by the order. */
	for (i = 0; i < KUW_MEMO_WAYS; i++)
		if ((u16)places[i] == number)
			places[i] += memo->next - number;
	kuw_memo_push(memo, *entry);
}

#endif /* KUW_MEMO_H */

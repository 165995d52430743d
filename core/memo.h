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
#define KUW_MEMO_SLOT_BITS	10
#define KUW_MEMO_WAYS		2

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
 * @cfa: bytes from the register to the CFA
 * @rbp: bytes from the CFA to the saved rbp, 0 if rbp is unchanged
 * @tag: the epoch, plus enum kuw_memo_what; see kuw_memo_use()
 */
struct kuw_memo_entry {
	u64 pc;
	s32 cfa;
	s16 rbp;
	u16 tag;
};

/**
 * struct kuw_memo - a memo; valid when all zero
 * @map: kuw_map.number of the map that it is for
 * @epoch: of the entries that are; never 0 after the first use
 * @next: the entry that is overwritten next
 * @reserved: 0
 * @slots: by a hash of the address, the numbers of entries, the newest first
 * @entries: in the order in which they were made, around and around; behind
 *	them one that is never of any address
 */
struct kuw_memo {
	u64 map;
	u16 epoch;
	u16 next;
	u16 reserved[2];
	u16 slots[1u << KUW_MEMO_SLOT_BITS][KUW_MEMO_WAYS];
	struct kuw_memo_entry entries[KUW_MEMO_ENTRIES + 1];
};

/* From now on the entries are of @map. Return: the epoch. */
static inline u16 kuw_memo_use(struct kuw_memo *memo, const struct kuw_map *map)
{
	if (unlikely(memo->map != map->number)) {
		memo->map = map->number;
		memo->epoch += KUW_MEMO_EPOCH;
		/* After 2^14 other maps, old entries would look valid. */
		if (unlikely(!memo->epoch)) {
			memset(memo->entries, 0, sizeof(memo->entries));
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

/* Functions are tens of bytes apart, so the low bits tell most. */
static inline u16 *kuw_memo_slot(struct kuw_memo *memo, u64 pc)
{
	return memo->slots[(pc ^ pc >> KUW_MEMO_SLOT_BITS) &
			   ((1u << KUW_MEMO_SLOT_BITS) - 1)];
}

/* Return: the entry of @pc, or NULL. */
static inline const struct kuw_memo_entry *
kuw_memo_find(struct kuw_memo *memo, u64 pc, u32 epoch)
{
	const u16 *slot = kuw_memo_slot(memo, pc);
	const struct kuw_memo_entry *entry;
	u32 i;

	for (i = 0; i < KUW_MEMO_WAYS; i++) {
		entry = &memo->entries[slot[i]];
		if (entry->pc == pc &&
		    kuw_memo_what(entry, epoch) <= KUW_MEMO_OUTERMOST)
			return entry;
	}
	return NULL;
}

/* Return: the entry that is now of @pc; the caller fills in the rest. */
static inline struct kuw_memo_entry *kuw_memo_add(struct kuw_memo *memo, u64 pc)
{
	struct kuw_memo_entry *entry = &memo->entries[memo->next];
	u16 *slot = kuw_memo_slot(memo, pc);

	slot[1] = slot[0];
	slot[0] = memo->next;
	memo->next = (memo->next + 1u) % KUW_MEMO_ENTRIES;
	entry->pc = pc;
	return entry;
}

#endif /* KUW_MEMO_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Keep each distinct rule once. Sets and rules are found by hash and compared in full. */
#include "intern.h"
#include "budgets.h"

/* The cache of struct kuw_move has 2^bits entries, by the size of the file. */
#define MOVES_MIN_BITS	5
#define MOVES_MAX_BITS	12
#define BYTES_PER_MOVE	64

/* What is interned. An item starts with its key, which is @words of 8 bytes. */
enum kind { SETS, RULES };

static const struct {
	u32 area;
	u32 bytes;
	u32 words;
} kinds[] = {
	[SETS] = { KUW_AREA_REGS, sizeof(struct kuw_regset), KUW_NR_REGS },
	[RULES] = { KUW_AREA_RULES, sizeof(struct kuw_ruleset),
		    offsetof(struct kuw_ruleset, uses) / sizeof(u64) },
};

static void *item(const struct kuw_intern *in, enum kind kind, u32 number)
{
	return (u8 *)kuw_area(in->areas, kinds[kind].area) + (u64)number * kinds[kind].bytes;
}

static u32 hash_of(const void *key, u32 words)
{
	u64 h = 0;
	u32 i;

	for (i = 0; i < words; i++)
		h = (h ^ get_unaligned_le64((u8 *)key + 8 * i)) * KUW_MIX;
	return (h ^ h >> 29) * KUW_MIX >> 32;
}

/*
 * Slots hold number + 1. Half of them stay empty, so a probe ends soon. Return: the slot that has
 * the key, or the one that it may take; NULL after KUW_MAX_PROBES.
 */
static u32 *find(const struct kuw_intern *in, enum kind kind, const void *key)
{
	u32 *slots = (u32 *)kuw_area(in->areas, KUW_AREA_HASH) + ((u64)kind << in->hash_bits);
	u32 at = hash_of(key, kinds[kind].words), tries, *slot;

	for (tries = 0; tries < KUW_MAX_PROBES; tries++, at++) {
		slot = &slots[at & ((1u << in->hash_bits) - 1)];
		if (!*slot || !memcmp(item(in, kind, *slot - 1), key, 8 * kinds[kind].words))
			return slot;
	}
	return NULL;
}

/*
 * Fill the hash, whose area has grown. What collides here collided in the smaller hash, too, so
 * each item finds a slot.
 */
static void rehash(struct kuw_intern *in)
{
	u64 slots = in->areas->area[KUW_AREA_HASH].bytes / (2 * sizeof(u32));
	u32 i;

	while (2ULL << in->hash_bits <= slots)
		in->hash_bits++;
	memset(kuw_area(in->areas, KUW_AREA_HASH), 0, (2ULL << in->hash_bits) * sizeof(u32));
	for (i = 0; i < in->nr_regs; i++)
		*find(in, SETS, item(in, SETS, i)) = i + 1;
	for (i = 0; i < in->nr_rules; i++)
		*find(in, RULES, item(in, RULES, i)) = i + 1;
}

/* Make room in the hash for one more of each. Return: 0, -ENOMEM. */
static int hash_room(struct kuw_intern *in)
{
	u32 n = max_t(u32, in->nr_regs, in->nr_rules) + 1;
	int ret;

	if (n < 1u << in->hash_bits >> 1)
		return 0;
	ret = kuw_area_room(in->areas, KUW_AREA_HASH,
			    max_t(u64, 4096, 4ULL * sizeof(u32) << in->hash_bits));
	if (!ret)
		rehash(in);
	return ret;
}

/* Find or add a set or a rule. Return: 0 and its number, -E2BIG, or an error of the caller's. */
static int find_or_add(struct kuw_intern *in, enum kind kind, const void *key, u32 *number)
{
	u32 *nr = kind == SETS ? &in->nr_regs : &in->nr_rules, *slot;
	int ret;

	ret = kuw_pause_after(in->areas, KUW_SEARCH_WORK) ?: hash_room(in) ?:
	      kuw_area_room(in->areas, kinds[kind].area, (*nr + 1ULL) * kinds[kind].bytes);
	if (ret)
		return ret;
	slot = find(in, kind, key);
	if (!slot || (!*slot && *nr == KUW_MAX_RULES))
		return -E2BIG;
	if (!*slot) {
		memset(item(in, kind, *nr), 0, kinds[kind].bytes);
		memcpy(item(in, kind, *nr), key, 8 * kinds[kind].words);
		*slot = ++*nr;
	}
	*number = *slot - 1;
	return 0;
}

/* By default a register is unchanged, and the return address is right below the CFA. */
int kuw_intern_init(struct kuw_intern *in, u32 bytes)
{
	const struct kuw_ruleset none = { .uses = 0 };
	u32 bits = MOVES_MIN_BITS, i, number;
	struct kuw_loc reg[KUW_NR_REGS];
	u64 moves;
	int ret;

	while (bits < MOVES_MAX_BITS && (u64)BYTES_PER_MOVE << bits < bytes)
		bits++;
	moves = sizeof(struct kuw_move) << bits;
	in->move_shift = 64 - bits;
	for (i = 0; i < KUW_NR_REGS; i++)
		reg[i] = (struct kuw_loc){ .how = KUW_SAME, .target = i };
	reg[KUW_RA].how = KUW_AT_CFA;
	reg[KUW_RA].off = -(s32)in->word;
	/* Rule 0 is for addresses without a rule. No other rule has its CFA, KUW_SAME. */
	ret = kuw_area_room(in->areas, KUW_AREA_MOVES, moves) ?:
	      find_or_add(in, SETS, reg, &number) ?: find_or_add(in, RULES, &none, &number);
	if (ret)
		return ret;
	/* Likewise, and in set 0, register 0 has rule 0 already: zeros say nothing. */
	in->moves = kuw_area(in->areas, KUW_AREA_MOVES);
	memset(in->moves, 0, moves);
	return 0;
}

int kuw_intern_new_step(struct kuw_intern *in, struct kuw_loc loc, u32 from, u32 *to,
			struct kuw_move *move)
{
	const struct kuw_regset *sets = kuw_area(in->areas, KUW_AREA_REGS);
	const struct kuw_ruleset rule = {
		.cfa = loc, .regs = from & U16_MAX, .signal = !!(from & KUW_MOVE_SIGNAL),
	};
	struct kuw_loc set[KUW_NR_REGS];
	int err;

	memcpy(set, sets[rule.regs].reg, sizeof(set));
	if (!(from & KUW_MOVE_RULE)) {
		set[kuw_port_index(loc.target, KUW_NR_REGS)] = loc;
		err = find_or_add(in, SETS, set, to);
	} else if (loc.how == KUW_UNDEF && set[KUW_RA].how != KUW_UNDEF) {
		/* A frame needs a CFA, unless it is the outermost: this row has no rule. */
		*to = 0;
		err = 0;
	} else {
		err = find_or_add(in, RULES, &rule, to);
	}
	if (!err)
		*move = (struct kuw_move){ kuw_loc_key(loc), from, *to };
	return err;
}

int kuw_intern_expr(struct kuw_intern *in, const u8 *bytes, u32 len, s32 *off)
{
	u8 *pool = kuw_area(in->areas, KUW_AREA_EXPRS);
	u32 at, here, tries = KUW_MAX_EXPR_SEARCH;
	int ret = kuw_pause_after(in->areas, KUW_SEARCH_WORK);

	if (ret)
		return ret;
	for (at = 0; at < in->exprs_len && tries; at += 2 + here, tries--) {
		here = get_unaligned_le16(pool + at);
		if (here == len && !memcmp(pool + at + 2, bytes, len)) {
			*off = at;
			return 0;
		}
	}
	at = in->exprs_len;
	if (at + 2 + len > KUW_MAX_EXPR_POOL)
		return -E2BIG;
	ret = kuw_area_room(in->areas, KUW_AREA_EXPRS, at + 2 + len);
	if (ret)
		return ret;
	pool = kuw_area(in->areas, KUW_AREA_EXPRS);
	put_unaligned_le16(len, pool + at);
	memcpy(pool + at + 2, bytes, len);
	in->exprs_len += 2 + len;
	*off = at;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Keep each distinct rule once. Sets and rules are found by hash and compared in full. */
#include "intern.h"
#include "budgets.h"

/* The two caches of struct kuw_move have 2^bits entries each, by the size of the file. */
#define MOVES_MIN_BITS	5
#define MOVES_MAX_BITS	10
#define BYTES_PER_MOVE	128

static u32 *hash_slots(struct kuw_intern *in, bool rules)
{
	return (u32 *)kuw_area(in->areas, KUW_AREA_HASH) + ((u64)rules << in->hash_bits);
}

static u32 slot_of(const struct kuw_intern *in, u32 hash)
{
	return hash & ((1u << in->hash_bits) - 1);
}

static u32 regs_hash(const u64 *reg)
{
	u64 h = 0;
	u32 i;

	for (i = 0; i < KUW_NR_REGS; i++)
		h = (h ^ reg[i]) * KUW_MIX;
	return h >> 32;
}

static u32 rule_hash(u64 cfa, u32 regs, u32 signal)
{
	u64 h = cfa * KUW_MIX + (regs * 2 + signal) * KUW_MIX2;

	return (h ^ h >> 29) * KUW_MIX >> 32;
}

/*
 * Slots hold number + 1. Half of them stay empty, so a probe ends soon. What collides here
 * collided in the smaller hash, too, so at most KUW_MAX_PROBES slots are taken.
 */
static u32 *free_slot(struct kuw_intern *in, bool rules, u32 hash)
{
	u32 *slots = hash_slots(in, rules), at = slot_of(in, hash);

	while (slots[at])
		at = slot_of(in, at + 1);
	return &slots[at];
}

/* Fill the hash, whose area has grown. */
static void rehash(struct kuw_intern *in)
{
	const struct kuw_ruleset *rules = kuw_area(in->areas, KUW_AREA_RULES);
	const struct kuw_regset *regs = kuw_area(in->areas, KUW_AREA_REGS);
	u64 slots = in->areas->area[KUW_AREA_HASH].bytes / (2 * sizeof(u32));
	u32 i;

	while (2ULL << in->hash_bits <= slots)
		in->hash_bits++;
	memset(kuw_area(in->areas, KUW_AREA_HASH), 0, (2ULL << in->hash_bits) * sizeof(u32));
	for (i = 0; i < in->nr_regs; i++)
		*free_slot(in, false, regs[i].hash) = i + 1;
	for (i = KUW_RULE_NONE + 1; i < in->nr_rules; i++)
		*free_slot(in, true, rule_hash(rules[i].cfa, rules[i].regs,
					       rules[i].signal)) = i + 1;
}

/* Return: whether the hash has room for one more of each. */
static bool hash_room(struct kuw_intern *in)
{
	u32 n = max_t(u32, in->nr_regs, in->nr_rules) + 1;

	if (n < 1u << in->hash_bits >> 1)
		return true;
	if (!kuw_area_room(in->areas, KUW_AREA_HASH,
			   max_t(u64, 4096, 4ULL * sizeof(u32) << in->hash_bits)))
		return false;
	rehash(in);
	return true;
}

static bool same_regs(const u64 *a, const u64 *b)
{
	u64 diff = 0;
	u32 i;

	for (i = 0; i < KUW_NR_REGS; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

/* Find or add a set. Return: 0 and its number, -ENOSPC, -E2BIG. */
static int intern_regs(struct kuw_intern *in, const u64 *reg, u32 *number)
{
	struct kuw_regset *regs = kuw_area(in->areas, KUW_AREA_REGS);
	u32 *slots, hash = regs_hash(reg), at, tries = KUW_MAX_PROBES;

	if (!hash_room(in))
		return -ENOSPC;
	slots = hash_slots(in, false);
	for (at = slot_of(in, hash); slots[at]; at = slot_of(in, at + 1)) {
		*number = slots[at] - 1;
		if (regs[*number].hash == hash &&
		    same_regs(regs[*number].reg, reg))
			return 0;
		if (!--tries)
			return -E2BIG;
	}
	if (in->nr_regs == KUW_MAX_RULES)
		return -E2BIG;
	if (!kuw_area_room(in->areas, KUW_AREA_REGS, (in->nr_regs + 1ULL) * sizeof(*regs)))
		return -ENOSPC;
	regs += in->nr_regs;
	memcpy(regs->reg, reg, sizeof(regs->reg));
	regs->hash = hash;
	regs->saves = KUW_NO_SAVES;
	*number = in->nr_regs++;
	slots[at] = in->nr_regs;
	return 0;
}

/* By default a register is unchanged, and the return address is right below the CFA. */
int kuw_intern_init(struct kuw_intern *in, u32 eh_frame_len)
{
	u32 bits = MOVES_MIN_BITS, i, number;
	u64 reg[KUW_NR_REGS], moves;

	while (bits < MOVES_MAX_BITS && (u64)BYTES_PER_MOVE << bits < eh_frame_len)
		bits++;
	moves = sizeof(struct kuw_move) << bits;
	in->move_shift = 64 - bits;
	if (!kuw_area_room(in->areas, KUW_AREA_RULES, sizeof(struct kuw_ruleset)) ||
	    !kuw_area_room(in->areas, KUW_AREA_MOVES, 2 * moves))
		return -ENOSPC;
	for (i = 0; i < KUW_NR_REGS; i++)
		reg[i] = kuw_loc_pack(KUW_SAME, 0, i, 0);
	reg[KUW_RA] = kuw_loc_pack(KUW_AT_CFA, 0, KUW_RA, -(s32)in->word);
	if (intern_regs(in, reg, &number))
		return -ENOSPC;
	memset(kuw_area(in->areas, KUW_AREA_RULES), 0, sizeof(struct kuw_ruleset));
	/* No CFA's rule is 0, and in set 0, register 0 has rule 0 already: zeros say nothing. */
	in->moves = kuw_area(in->areas, KUW_AREA_MOVES);
	memset(in->moves, 0, 2 * moves);
	in->nr_rules = 1;
	return 0;
}

int kuw_intern_new_set(struct kuw_intern *in, u32 *regs, u64 loc)
{
	const struct kuw_regset *sets = kuw_area(in->areas, KUW_AREA_REGS);
	u64 set[KUW_NR_REGS];
	u32 from = *regs;
	int err;

	memcpy(set, sets[from].reg, sizeof(set));
	set[kuw_loc_unpack(loc).target] = loc;
	err = intern_regs(in, set, regs);
	if (err)
		return err;
	*kuw_intern_move(in, true, loc, from) = (struct kuw_move){ loc, from, *regs };
	return 0;
}

/* Find or add a rule. Return: 0 and its number, -ENOSPC, -E2BIG. */
static int intern_rule(struct kuw_intern *in, u64 cfa, u32 regs, u32 signal, u32 *number)
{
	struct kuw_ruleset *rules = kuw_area(in->areas, KUW_AREA_RULES), *rule;
	u32 *slots, at, tries = KUW_MAX_PROBES;

	if (!hash_room(in))
		return -ENOSPC;
	slots = hash_slots(in, true);
	at = slot_of(in, rule_hash(cfa, regs, signal));
	for (; slots[at]; at = slot_of(in, at + 1)) {
		*number = slots[at] - 1;
		rule = &rules[*number];
		if (rule->cfa == cfa && rule->regs == regs &&
		    rule->signal == signal)
			return 0;
		if (!--tries)
			return -E2BIG;
	}
	if (in->nr_rules == KUW_MAX_RULES)
		return -E2BIG;
	if (!kuw_area_room(in->areas, KUW_AREA_RULES, (in->nr_rules + 1ULL) * sizeof(*rules)))
		return -ENOSPC;
	rule = &rules[in->nr_rules];
	memset(rule, 0, sizeof(*rule));
	rule->cfa = cfa;
	rule->regs = regs;
	rule->signal = signal;
	*number = in->nr_rules++;
	slots[at] = in->nr_rules;
	return 0;
}

int kuw_intern_new_rule(struct kuw_intern *in, u64 cfa, u32 from, u32 *rule)
{
	u32 regs = from & U16_MAX;
	int err;

	/* A frame needs a CFA, unless it is the outermost. */
	if (kuw_loc_how(cfa) == KUW_UNDEF &&
	    kuw_loc_how(kuw_intern_get(in, regs, KUW_RA)) != KUW_UNDEF)
		return -EINVAL;
	err = intern_rule(in, cfa, regs, from >> 31, rule);
	if (err)
		return err;
	*kuw_intern_move(in, false, cfa, from) = (struct kuw_move){ cfa, from, *rule };
	return 0;
}

int kuw_intern_expr(struct kuw_intern *in, const u8 *bytes, u32 len, s32 *off)
{
	u8 *pool = kuw_area(in->areas, KUW_AREA_EXPRS);
	u32 at, here, tries = KUW_MAX_EXPR_SEARCH;

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
	if (!kuw_area_room(in->areas, KUW_AREA_EXPRS, at + 2 + len))
		return -ENOSPC;
	put_unaligned_le16(len, pool + at);
	memcpy(pool + at + 2, bytes, len);
	in->exprs_len += 2 + len;
	*off = at;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Intern the rules of rows: each distinct rule is kept once. The rules of all registers
 * are a set, and a set with the CFA's rule is a rule. Both are found by hash and compared
 * in full.
 */
#include "compile.h"
#include "limits.h"

/* The two caches of struct kuw_move have 2^bits entries each, by the size of the file. */
#define MOVES_MIN_BITS	5
#define MOVES_MAX_BITS	10
#define BYTES_PER_MOVE	128

/* The number of the rule of addresses that no FDE covers. */
#define RULE_NONE	0
/* The number of the set that holds before a CIE's initial instructions. */
#define REGS_INITIAL	0

static u32 *hash_slots(struct kuw_compile *c, bool rules)
{
	return (u32 *)c->areas[KUW_AREA_HASH].mem + ((u64)rules << c->hash_bits);
}

static u32 slot_of(const struct kuw_compile *c, u32 hash)
{
	return hash & ((1u << c->hash_bits) - 1);
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
static u32 *free_slot(struct kuw_compile *c, bool rules, u32 hash)
{
	u32 *slots = hash_slots(c, rules), at = slot_of(c, hash);

	while (slots[at])
		at = slot_of(c, at + 1);
	return &slots[at];
}

void kuw_intern_rehash(struct kuw_compile *c)
{
	const struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;
	const struct kuw_regset *regs = c->areas[KUW_AREA_REGS].mem;
	u64 slots = c->areas[KUW_AREA_HASH].bytes / (2 * sizeof(u32));
	u32 i;

	while (2ULL << c->hash_bits <= slots)
		c->hash_bits++;
	memset(c->areas[KUW_AREA_HASH].mem, 0, (2ULL << c->hash_bits) * sizeof(u32));
	for (i = 0; i < c->nr_regs; i++)
		*free_slot(c, false, regs[i].hash) = i + 1;
	for (i = RULE_NONE + 1; i < c->nr_rules; i++)
		*free_slot(c, true, rule_hash(rules[i].cfa, rules[i].regs,
					      rules[i].signal)) = i + 1;
}

/* Return: whether the hash has room for one more of each set. */
static bool hash_room(struct kuw_compile *c)
{
	u32 n = max_t(u32, c->nr_regs, c->nr_rules) + 1;

	if (likely(n < 1u << c->hash_bits >> 1))
		return true;
	/* kuw_compile_step() rehashes when the area has grown. */
	return kuw_compile_grow(c, KUW_AREA_HASH, max_t(u64, 4096,
				4ULL * sizeof(u32) << c->hash_bits));
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
static int intern_regs(struct kuw_compile *c, const u64 *reg, u32 *number)
{
	struct kuw_regset *regs = c->areas[KUW_AREA_REGS].mem;
	u32 *slots, hash = regs_hash(reg), at, tries = KUW_MAX_PROBES;

	if (!hash_room(c))
		return -ENOSPC;
	slots = hash_slots(c, false);
	for (at = slot_of(c, hash); slots[at]; at = slot_of(c, at + 1)) {
		*number = slots[at] - 1;
		if (regs[*number].hash == hash &&
		    same_regs(regs[*number].reg, reg))
			return 0;
		if (!--tries)
			return -E2BIG;
	}
	if (c->nr_regs == KUW_MAX_RULES)
		return -E2BIG;
	if (!kuw_compile_room(c, KUW_AREA_REGS, (c->nr_regs + 1ULL) * sizeof(*regs)))
		return -ENOSPC;
	regs += c->nr_regs;
	memcpy(regs->reg, reg, sizeof(regs->reg));
	regs->hash = hash;
	regs->saves = KUW_NO_SAVES;
	*number = c->nr_regs++;
	slots[at] = c->nr_regs;
	return 0;
}

/* By default a register is unchanged, and the return address is right below the CFA. */
int kuw_intern_init(struct kuw_compile *c)
{
	u32 bits = MOVES_MIN_BITS, i, number;
	u64 reg[KUW_NR_REGS], moves;

	while (bits < MOVES_MAX_BITS && (u64)BYTES_PER_MOVE << bits < c->eh_frame.len)
		bits++;
	moves = sizeof(struct kuw_move) << bits;
	c->move_shift = 64 - bits;
	if (!kuw_compile_room(c, KUW_AREA_RULES, sizeof(struct kuw_ruleset)) ||
	    !kuw_compile_room(c, KUW_AREA_MOVES, 2 * moves))
		return -ENOSPC;
	for (i = 0; i < KUW_NR_REGS; i++)
		reg[i] = kuw_loc_pack(KUW_SAME, 0, i, 0);
	reg[KUW_RA] = kuw_loc_pack(KUW_AT_CFA, 0, KUW_RA, -(s32)c->eh_frame.word);
	if (intern_regs(c, reg, &number))
		return -ENOSPC;
	memset(c->areas[KUW_AREA_RULES].mem, 0, sizeof(struct kuw_ruleset));
	/* No CFA's rule is 0, and in set 0, register 0 has rule 0 already: zeros say nothing. */
	memset(c->areas[KUW_AREA_MOVES].mem, 0, 2 * moves);
	c->nr_rules = 1;
	return 0;
}

int kuw_intern_new_set(struct kuw_compile *c, u32 *regs, u64 loc)
{
	const struct kuw_regset *sets = c->areas[KUW_AREA_REGS].mem;
	u64 set[KUW_NR_REGS];
	u32 from = *regs;
	int err;

	memcpy(set, sets[from].reg, sizeof(set));
	set[kuw_loc_unpack(loc).target] = loc;
	err = intern_regs(c, set, regs);
	if (err)
		return err;
	*kuw_intern_move(c, true, loc, from) = (struct kuw_move){ loc, from, *regs };
	return 0;
}

/* Find or add a rule. Return: 0 and its number, -ENOSPC, -E2BIG. */
static int intern_rule(struct kuw_compile *c, u64 cfa, u32 regs, u32 *number)
{
	struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem, *rule;
	u32 *slots, at, tries = KUW_MAX_PROBES;

	if (!hash_room(c))
		return -ENOSPC;
	slots = hash_slots(c, true);
	at = slot_of(c, rule_hash(cfa, regs, c->signal));
	for (; slots[at]; at = slot_of(c, at + 1)) {
		*number = slots[at] - 1;
		rule = &rules[*number];
		if (rule->cfa == cfa && rule->regs == regs &&
		    rule->signal == c->signal)
			return 0;
		if (!--tries)
			return -E2BIG;
	}
	if (c->nr_rules == KUW_MAX_RULES)
		return -E2BIG;
	if (!kuw_compile_room(c, KUW_AREA_RULES, (c->nr_rules + 1ULL) * sizeof(*rules)))
		return -ENOSPC;
	rule = &rules[c->nr_rules];
	memset(rule, 0, sizeof(*rule));
	rule->cfa = cfa;
	rule->regs = regs;
	rule->signal = c->signal;
	*number = c->nr_rules++;
	slots[at] = c->nr_rules;
	return 0;
}

int kuw_intern_new_rule(struct kuw_compile *c, u64 cfa, u32 regs, u32 *rule)
{
	u32 from = regs | c->signal << 31;
	int err;

	/* A frame needs a CFA, unless it is the outermost. */
	if (kuw_loc_how(cfa) == KUW_UNDEF &&
	    kuw_loc_how(kuw_intern_get(c, regs, KUW_RA)) != KUW_UNDEF)
		return -EINVAL;
	err = intern_rule(c, cfa, regs, rule);
	if (err)
		return err;
	*kuw_intern_move(c, false, cfa, from) = (struct kuw_move){ cfa, from, *rule };
	return 0;
}

int kuw_compile_grow_found(struct kuw_compile *c)
{
	u64 words = c->nr_found + KUW_FOUND_ROOM;

	if (words > KUW_MAX_ROWS)
		return -E2BIG;
	if (!kuw_compile_room(c, KUW_AREA_FOUND, words * sizeof(u32)))
		return -ENOSPC;
	c->max_found = min_t(u64, KUW_MAX_ROWS,
			     c->areas[KUW_AREA_FOUND].bytes / sizeof(u32));
	return 0;
}

int kuw_compile_expr(struct kuw_compile *c, const u8 *bytes, u32 len, s32 *off)
{
	u8 *pool = c->areas[KUW_AREA_EXPRS].mem;
	u32 at, here, tries = KUW_MAX_EXPR_SEARCH;

	for (at = 0; at < c->exprs_len && tries; at += 2 + here, tries--) {
		here = get_unaligned_le16(pool + at);
		if (here == len && !memcmp(pool + at + 2, bytes, len)) {
			*off = at;
			return 0;
		}
	}
	at = c->exprs_len;
	if (at + 2 + len > KUW_MAX_EXPR_POOL)
		return -E2BIG;
	if (!kuw_compile_room(c, KUW_AREA_EXPRS, at + 2 + len))
		return -ENOSPC;
	put_unaligned_le16(len, pool + at);
	memcpy(pool + at + 2, bytes, len);
	c->exprs_len += 2 + len;
	*off = at;
	return 0;
}

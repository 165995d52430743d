// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rows as they come out of CFA programs, and the distinct rules behind them.
 * The rules of all registers are one set, and with the CFA's a second, since a
 * push or pop mostly changes one of the two; both are found by hash and
 * compared in full.
 */
#include "compile.h"
#include "limits.h"

/* The rule of addresses that no FDE covers has number 0. */
#define RULE_NONE	0

static u32 *hash_slots(struct kuw_compile *c, bool rules)
{
	return (u32 *)c->areas[KUW_AREA_HASH].mem + ((u64)rules << c->hash_bits);
}

static u32 regs_hash(struct kuw_compile *c, u64 sum)
{
	return (sum * 0xff51afd7ed558ccdULL) >> (64 - c->hash_bits);
}

static u32 rule_hash(struct kuw_compile *c, const struct kuw_loc *cfa, u32 regs,
		     u32 signal)
{
	u64 h = kuw_loc_bits(cfa) + (regs * 2 + signal) * 0xc4ceb9fe1a85ec53ULL;

	h ^= h >> 32;
	return (h * 0xff51afd7ed558ccdULL) >> (64 - c->hash_bits);
}

/* Slots hold number + 1; half of them stay empty, so a probe ends soon. */
static u32 *free_slot(u32 *slots, u32 mask, u32 at)
{
	while (slots[at])
		at = (at + 1) & mask;
	return &slots[at];
}

void kuw_intern_init(struct kuw_compile *c)
{
	struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;

	memset(&rules[RULE_NONE], 0, sizeof(*rules));
	c->nr_rules = 1;
	c->last_rule = RULE_NONE;
}

void kuw_intern_rehash(struct kuw_compile *c)
{
	const struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;
	const struct kuw_regset *regs = c->areas[KUW_AREA_REGS].mem;
	u64 slots = c->areas[KUW_AREA_HASH].bytes / (2 * sizeof(u32));
	u32 i, mask;

	while (2ULL << c->hash_bits <= slots)
		c->hash_bits++;
	mask = (1u << c->hash_bits) - 1;
	memset(c->areas[KUW_AREA_HASH].mem, 0, (mask + 1ULL) * 2 * sizeof(u32));
	for (i = 0; i < c->nr_regs; i++)
		*free_slot(hash_slots(c, false), mask,
			   regs_hash(c, regs[i].sum)) = i + 1;
	for (i = RULE_NONE + 1; i < c->nr_rules; i++)
		*free_slot(hash_slots(c, true), mask,
			   rule_hash(c, &rules[i].cfa, rules[i].regs,
				     rules[i].signal)) = i + 1;
}

/* Return: whether there is room for one more of each set. */
static bool room(struct kuw_compile *c)
{
	u32 n = max_t(u32, c->nr_regs, c->nr_rules) + 1;

	if (!kuw_compile_room(c, KUW_AREA_REGS, (c->nr_regs + 1ULL) *
			      sizeof(struct kuw_regset)) ||
	    !kuw_compile_room(c, KUW_AREA_RULES, (c->nr_rules + 1ULL) *
			      sizeof(struct kuw_ruleset)))
		return false;
	if (n < 1u << c->hash_bits >> 1)
		return true;
	/* The caller doubles it at least; kuw_compile_step() then rehashes. */
	c->grow = KUW_AREA_HASH;
	c->grow_bytes = max_t(u64, 4096, 4ULL * sizeof(u32) << c->hash_bits);
	return false;
}

static bool same_regs(const struct kuw_loc *a, const struct kuw_loc *b)
{
	u64 diff = 0;
	u32 i;

	for (i = 0; i < KUW_NR_REGS; i++)
		diff |= kuw_loc_bits(&a[i]) ^ kuw_loc_bits(&b[i]);
	return !diff;
}

static u32 intern_regs(struct kuw_compile *c, const struct kuw_cfi *cfi)
{
	struct kuw_regset *regs = c->areas[KUW_AREA_REGS].mem;
	u32 *slots = hash_slots(c, false), mask = (1u << c->hash_bits) - 1;
	u32 at = regs_hash(c, cfi->sum);

	for (; slots[at]; at = (at + 1) & mask)
		if (regs[slots[at] - 1].sum == cfi->sum &&
		    same_regs(regs[slots[at] - 1].reg, cfi->reg))
			return slots[at] - 1;
	regs += c->nr_regs;
	memcpy(regs->reg, cfi->reg, sizeof(regs->reg));
	regs->sum = cfi->sum;
	regs->saves = KUW_NO_SAVES;
	slots[at] = ++c->nr_regs;
	return c->nr_regs - 1;
}

static u32 intern_rule(struct kuw_compile *c, const struct kuw_loc *cfa, u32 regs)
{
	struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem, *rule;
	u32 *slots = hash_slots(c, true), mask = (1u << c->hash_bits) - 1;
	u32 at = rule_hash(c, cfa, regs, c->signal);

	for (; slots[at]; at = (at + 1) & mask) {
		rule = &rules[slots[at] - 1];
		if (kuw_loc_bits(&rule->cfa) == kuw_loc_bits(cfa) &&
		    rule->regs == regs && rule->signal == c->signal)
			return slots[at] - 1;
	}
	rule = &rules[c->nr_rules];
	memset(rule, 0, sizeof(*rule));
	rule->cfa = *cfa;
	rule->regs = regs;
	rule->signal = c->signal;
	slots[at] = ++c->nr_rules;
	return c->nr_rules - 1;
}

int kuw_compile_append(struct kuw_compile *c, u64 off, u32 rule)
{
	struct kuw_row *rows = c->areas[KUW_AREA_ROWS].mem;

	/* The next one takes the place of a row without extent. */
	if (c->nr_rows && rows[c->nr_rows - 1].off == off)
		c->nr_rows--;
	if (c->nr_rows ? rows[c->nr_rows - 1].rule == rule : rule == RULE_NONE)
		return 0;
	if (c->nr_rows == KUW_MAX_ROWS)
		return -E2BIG;
	if (!kuw_compile_room(c, KUW_AREA_ROWS,
			      (c->nr_rows + 1ULL) * sizeof(*rows)))
		return -ENOSPC;
	rows[c->nr_rows].off = off;
	rows[c->nr_rows++].rule = rule;
	return 0;
}

int kuw_compile_row(struct kuw_compile *c, struct kuw_cfi *cfi, u64 loc, u64 end)
{
	if (loc >= end)
		return 0;
	/* No CFA, no frame; a value of an undefined RA needs none. */
	if (cfi->cfa.how == KUW_UNDEF && cfi->reg[KUW_RA].how != KUW_UNDEF)
		return -EINVAL;
	if (c->nr_rules > KUW_MAX_RULES)
		return -E2BIG;
	if (!room(c))
		return -ENOSPC;
	if (cfi->regs_changed)
		c->last_regs = intern_regs(c, cfi);
	c->last_rule = intern_rule(c, &cfi->cfa, c->last_regs);
	cfi->regs_changed = false;
	cfi->cfa_changed = false;
	return kuw_compile_append(c, loc, c->last_rule);
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

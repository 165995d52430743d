/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The distinct rules of a file. The rules of all registers are a set, and a set with the
 * CFA's rule is a rule. Programs and rows name both by number.
 */
#ifndef KUW_INTERN_H
#define KUW_INTERN_H

#include "area.h"
#include "rule.h"

#define KUW_MIX		0xff51afd7ed558ccdULL

/* The rules of all registers. kuw_rank() sets what is not the key. */
struct kuw_regset {
	struct kuw_loc reg[KUW_NR_REGS]; /* the key */
	u32 saves;		/* its index in the table, plus 1; 0 if it has none */
};

/* A rule. The key is all before @uses. */
struct kuw_ruleset {
	struct kuw_loc cfa;
	u32 regs;	/* the number of its set */
	u32 signal;	/* whether it is a signal frame's */
	u32 uses;	/* how often the sample of kuw_pairs_count() has it */
	u32 code;	/* in the table; kuw_rank() sets this and the next */
	u32 bits;	/* as in struct kuw_rule */
};

/*
 * An entry of the cache of what was interned lately. @key is a register's rule that was put into
 * set @from, and @to is the set that this made. Or @key is the CFA's rule, @from is a set with
 * these bits, and @to is the rule of both. They save comparing sets in full. The cache is
 * direct-mapped, which suffices, as programs repeat themselves.
 */
#define KUW_MOVE_RULE	(1u << 31)
#define KUW_MOVE_SIGNAL	(1u << 30)	/* of a signal frame */

struct kuw_move {
	u64 key;
	u32 from;
	u32 to;
};

struct kuw_intern {
	struct kuw_areas *areas;	/* room for KUW_AREA_REGS, KUW_AREA_RULES, KUW_AREA_EXPRS */
	u32 word;			/* bytes of a word */
	u32 nr_regs;			/* sets */
	u32 nr_rules;
	u32 exprs_len;			/* bytes of all expressions */
	/* private: */
	struct kuw_move *moves;
	u32 hash_bits;
	u32 move_shift;
};

/*
 * Make the first set and the first rule, and the cache, for a file with so many @bytes of unwind
 * information. Set 0 says that each register is unchanged, and that the return address is right
 * below the CFA. Return: 0, or an error of the caller's functions.
 */
int kuw_intern_init(struct kuw_intern *in, u32 bytes);

/* The same as the two functions below, for a step that @move does not have. */
int kuw_intern_new_rule(struct kuw_intern *in, struct kuw_loc cfa, u32 from, u32 *rule,
			struct kuw_move *move);
int kuw_intern_new_set(struct kuw_intern *in, u32 *regs, struct kuw_loc loc,
		       struct kuw_move *move);

static inline u64 kuw_loc_key(struct kuw_loc loc)
{
	u64 key;

	memcpy(&key, &loc, sizeof(key));
	return key;
}

/* Where a step may be. */
static inline struct kuw_move *kuw_intern_move(const struct kuw_intern *in, u64 key, u32 from)
{
	return in->moves + ((key ^ (u64)from << 40) * KUW_MIX >> in->move_shift);
}

/*
 * Find or add the rule of a CFA and a set, in a signal frame or not. Return: 0, -EINVAL if
 * there is no CFA, -E2BIG, or an error of the caller's functions.
 */
static inline int kuw_intern_rule(struct kuw_intern *in, struct kuw_loc cfa, u32 regs,
				  bool signal, u32 *rule)
{
	u32 from = KUW_MOVE_RULE | signal * KUW_MOVE_SIGNAL | regs;
	struct kuw_move *move = kuw_intern_move(in, kuw_loc_key(cfa), from);

	if (move->key != kuw_loc_key(cfa) || move->from != from)
		return kuw_intern_new_rule(in, cfa, from, rule, move);
	*rule = move->to;
	return 0;
}

/*
 * Replace the rule of a register in set *@regs by @loc, which names the register. Return: 0,
 * -E2BIG, or an error of the caller's functions.
 */
static inline int kuw_intern_set(struct kuw_intern *in, u32 *regs, struct kuw_loc loc)
{
	struct kuw_move *move = kuw_intern_move(in, kuw_loc_key(loc), *regs);

	if (move->key != kuw_loc_key(loc) || move->from != *regs)
		return kuw_intern_new_set(in, regs, loc, move);
	*regs = move->to;
	return 0;
}

/* Return: the rule of a register in a set. */
static inline struct kuw_loc kuw_intern_get(const struct kuw_intern *in, u32 regs, u32 reg)
{
	const struct kuw_regset *sets = kuw_area(in->areas, KUW_AREA_REGS);

	return sets[regs].reg[reg];
}

/*
 * Find or add an expression; @off is its place in the pool. Return: 0, -E2BIG, or an
 * error of the caller's functions.
 */
int kuw_intern_expr(struct kuw_intern *in, const u8 *bytes, u32 len, s32 *off);

#endif /* KUW_INTERN_H */

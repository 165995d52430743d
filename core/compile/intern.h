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

static inline u64 kuw_loc_key(struct kuw_loc loc)
{
	u64 key;

	memcpy(&key, &loc, sizeof(key));
	return key;
}

/* Find or add *@to, which @loc makes of @from, where @move does not have it. */
int kuw_intern_new_step(struct kuw_intern *in, struct kuw_loc loc, u32 from, u32 *to,
			struct kuw_move *move);

/* The same, where the cache may have it. Return: as the two functions below. */
static inline int kuw_intern_step(struct kuw_intern *in, struct kuw_loc loc, u32 from, u32 *to)
{
	u64 key = kuw_loc_key(loc);
	struct kuw_move *move = in->moves + ((key ^ (u64)from << 40) * KUW_MIX >> in->move_shift);

	if (move->key != key || move->from != from)
		return kuw_intern_new_step(in, loc, from, to, move);
	*to = move->to;
	return 0;
}

/*
 * Find or add the rule of a CFA and a set, in a signal frame or not. It is rule 0 if there is no
 * CFA. Return: 0, -E2BIG, or an error of the caller's functions.
 */
static inline int kuw_intern_rule(struct kuw_intern *in, struct kuw_loc cfa, u32 regs,
				  bool signal, u32 *rule)
{
	return kuw_intern_step(in, cfa, KUW_MOVE_RULE | signal * KUW_MOVE_SIGNAL | regs, rule);
}

/*
 * Replace the rule of a register in set *@regs by @loc, which names the register. Return: 0,
 * -E2BIG, or an error of the caller's functions.
 */
static inline int kuw_intern_set(struct kuw_intern *in, u32 *regs, struct kuw_loc loc)
{
	return kuw_intern_step(in, loc, *regs, regs);
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

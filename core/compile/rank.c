// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Ranks and codes of rules and runs, and the rules of the table: see table.h. */
#include "rank.h"

static const u8 saved_regs[KUW_NR_SAVES] = KUW_SAVED_REGS;

/* Return: words from the CFA to the saved register; 0 if it is not saved in that way. */
static s32 saved_word(const struct kuw_rank *r, u64 loc)
{
	s32 off = loc >> 32, word = r->intern->word;

	return kuw_loc_how(loc) == KUW_AT_CFA && off % word == 0 ? off / word : 0;
}

/* Return: whether struct kuw_saves can express @regs. Fills in @saves unless it is NULL. */
static bool plain_regs(const struct kuw_rank *r, const struct kuw_regset *regs,
		       struct kuw_saves *saves)
{
	u32 i, seen = 1u << KUW_RA;
	s32 word;

	if (saved_word(r, regs->reg[KUW_RA]) != -1)
		return false;
	for (i = 0; i < KUW_NR_SAVES; i++) {
		word = saved_word(r, regs->reg[saved_regs[i]]);
		if (word != (s8)word ||
		    (!word && kuw_loc_how(regs->reg[saved_regs[i]]) != KUW_SAME))
			return false;
		if (saves)
			saves->word[i] = word;
		seen |= 1u << saved_regs[i];
	}
	for (i = 0; i < KUW_NR_REGS; i++)
		if (!(seen & 1u << i) && kuw_loc_how(regs->reg[i]) != KUW_SAME)
			return false;
	return true;
}

/* Return: whether struct kuw_rule, with its struct kuw_saves, can express @rule. */
static bool plain_rule(const struct kuw_rank *r,
		       const struct kuw_ruleset *rule,
		       const struct kuw_regset *regs)
{
	s32 rbp = saved_word(r, regs->reg[KUW_RBP]);
	struct kuw_loc cfa = kuw_loc_unpack(rule->cfa);
	s32 word = r->intern->word, words = cfa.off / word;

	return !rule->signal && cfa.how == KUW_REG &&
	       (cfa.reg == KUW_RSP || cfa.reg == KUW_RBP) &&
	       cfa.off % word == 0 && words >= 0 && words <= KUW_RULE_MAX_CFA &&
	       rbp >= KUW_RULE_MIN_RBP && rbp <= KUW_RULE_MAX_RBP && regs->plain;
}

/* Return: whether struct kuw_ext must list the rule of a register. */
static bool listed(const struct kuw_rank *r, u64 loc, u32 reg)
{
	if (reg == KUW_RA)
		return saved_word(r, loc) != -1;
	return kuw_loc_how(loc) != KUW_SAME;
}

/* The size of a struct kuw_ext, in struct kuw_loc: one for its head, one for the CFA. */
static u32 ext_locs(const struct kuw_rank *r, const struct kuw_regset *regs)
{
	u32 i, n = 2;

	for (i = 0; i < KUW_NR_REGS; i++)
		n += listed(r, regs->reg[i], i);
	return n;
}

/* How many places the code of a rule or of a run takes. */
static u32 rule_places(u32 rank)
{
	return rank < KUW_CODE_RUN ? 1 :
	       rank < (KUW_CODE_LONGEST - KUW_CODE_LONG) << 8 ? 2 : 3;
}

static u32 run_places(const struct kuw_rank *r, u32 run)
{
	return run < KUW_CODE_LONG - KUW_CODE_RUN ? 1 :
	       r->nr_ranked + run < (KUW_CODE_LONGEST - KUW_CODE_LONG) << 8 ? 2 : 3;
}

/* Number the rules by use. Rule 0, "no FDE", keeps its number. */
static void rank_rules(struct kuw_rank *r, struct kuw_pair *pairs)
{
	struct kuw_ruleset *rules = kuw_area(r->areas, KUW_AREA_RULES);
	u32 i, n = r->intern->nr_rules - 1;

	r->nr_entries = rules[0].uses;
	for (i = 0; i < n; i++) {
		/* A rule that only runs have (rank 1, uses 0) needs a number, too. */
		pairs[i].key = ~(rules[i + 1].uses * 2 + rules[i + 1].rank);
		pairs[i].value = i + 1;
	}
	kuw_sort_all(r->sort, pairs, n);
	rules[0].rank = 0;
	for (i = 0; i < n; i++) {
		/* The rest have no uses: their rows were taken back. */
		if (!~pairs[i].key)
			break;
		rules[pairs[i].value].rank = i + 1;
		r->nr_entries += rules[pairs[i].value].uses * rule_places(i + 1);
	}
	r->nr_ranked = i + 1;
}

static const struct kuw_ruleset *ranked(const struct kuw_rank *r, u32 rank)
{
	const struct kuw_ruleset *rules = kuw_area(r->areas, KUW_AREA_RULES);
	const struct kuw_pair *pairs = kuw_area(r->areas, KUW_AREA_ORDER);

	return rank ? &rules[pairs[rank - 1].value] : &rules[0];
}

static void count_rules(struct kuw_rank *r)
{
	struct kuw_regset *sets = kuw_area(r->areas, KUW_AREA_REGS);
	const struct kuw_ruleset *rule;
	struct kuw_regset *regs;
	u32 i;

	for (i = 0; i < r->intern->nr_regs; i++)
		sets[i].plain = plain_regs(r, &sets[i], NULL);
	for (i = 1; i < r->nr_ranked; i++) {
		rule = ranked(r, i);
		regs = &sets[rule->regs];
		/* In the order of use, so that frequent rules get the limited saves. */
		if (plain_rule(r, rule, regs) && regs->saves == KUW_NO_SAVES &&
		    r->nr_saves < KUW_MAX_SAVES)
			regs->saves = r->nr_saves++;
		if (!plain_rule(r, rule, regs) || regs->saves == KUW_NO_SAVES)
			r->nr_locs += ext_locs(r, regs);
	}
}

/* @number is that of a rule, or that of a run plus the number of rules. */
static u32 long_code(u32 number)
{
	if (rule_places(max_t(u32, number, KUW_CODE_RUN)) == 2)
		return 2 << 24 | (KUW_CODE_LONG + (number >> 8)) << 8 | (number & 0xff);
	return 3 << 24 | KUW_CODE_LONGEST << 16 | number;
}

static u32 rule_code(u32 rank)
{
	return rank < KUW_CODE_RUN ? 1 << 24 | rank : long_code(rank);
}

u32 kuw_rank_run_code(const struct kuw_rank *r, u32 run)
{
	return run < KUW_CODE_LONG - KUW_CODE_RUN ?
	       1 << 24 | (KUW_CODE_RUN + run) : long_code(r->nr_ranked + run);
}

static void write_codes(const struct kuw_rank *r)
{
	const struct kuw_ruleset *rules = kuw_area(r->areas, KUW_AREA_RULES);
	const struct kuw_node *nodes = kuw_area(r->areas, KUW_AREA_NODES);
	u32 *codes = kuw_area(r->areas, KUW_AREA_CODES), i;

	for (i = 0; i < r->intern->nr_rules; i++)
		codes[i] = rule_code(rules[i].rank);
	codes += r->intern->nr_rules;
	for (i = 0; i < r->runs->nr_nodes; i++)
		if (nodes[i].take == nodes[i].depth)
			codes[i] = kuw_rank_run_code(r, nodes[i].run);
		else if (nodes[i].depth == 1)
			codes[i] = rule_code(rules[kuw_node_rule(&nodes[i])].rank);
		else
			codes[i] = 0;
}

static void write_ext(const struct kuw_rank *r, const struct kuw_ruleset *rule,
		      struct kuw_ext *ext)
{
	const struct kuw_regset *sets = kuw_area(r->areas, KUW_AREA_REGS);
	const u64 *reg = sets[rule->regs].reg;
	u32 i;

	ext->signal = rule->signal;
	ext->nr_locs = 0;
	ext->locs[0] = kuw_loc_unpack(rule->cfa);
	for (i = 0; i < KUW_NR_REGS; i++)
		if (listed(r, reg[i], i))
			ext->locs[++ext->nr_locs] = kuw_loc_unpack(reg[i]);
}

void kuw_rank_write(const struct kuw_rank *r, struct kuw_table *table)
{
	struct kuw_saves *saves = (void *)((u8 *)table + table->saves_off);
	struct kuw_loc *locs = (void *)((u8 *)table + table->locs_off);
	const struct kuw_regset *sets = kuw_area(r->areas, KUW_AREA_REGS);
	const struct kuw_ruleset *rule;
	const struct kuw_regset *regs;
	struct kuw_loc cfa;
	s32 rbp;
	u32 i, kind, nr_locs = 0;

	table->rules[0].bits = KUW_KIND_NONE;
	for (i = 1; i < r->nr_ranked; i++) {
		rule = ranked(r, i);
		regs = &sets[rule->regs];
		if (plain_rule(r, rule, regs) && regs->saves != KUW_NO_SAVES) {
			rbp = saved_word(r, regs->reg[KUW_RBP]);
			plain_regs(r, regs, &saves[regs->saves]);
			cfa = kuw_loc_unpack(rule->cfa);
			table->rules[i] = kuw_rule_plain(cfa.reg == KUW_RSP ? KUW_KIND_RSP :
									      KUW_KIND_RBP,
							 cfa.off / (s32)r->intern->word,
							 regs->saves, rbp);
		} else {
			kind = kuw_loc_how(regs->reg[KUW_RA]) == KUW_UNDEF ? KUW_KIND_END :
									     KUW_KIND_EXT;
			table->rules[i].bits = kind | nr_locs << 3;
			write_ext(r, rule, (struct kuw_ext *)&locs[nr_locs]);
			nr_locs += ext_locs(r, regs);
		}
	}
}

int kuw_rank(struct kuw_rank *r)
{
	const struct kuw_node *nodes = kuw_area(r->areas, KUW_AREA_NODES);
	u32 most = max_t(u32, r->runs->nr_nodes, r->intern->nr_rules), i;

	if (!kuw_area_room(r->areas, KUW_AREA_ORDER, 2ULL * most * sizeof(struct kuw_pair)) ||
	    !kuw_area_room(r->areas, KUW_AREA_CODES, 2ULL * most * sizeof(u32)))
		return -ENOSPC;
	kuw_runs_choose(r->runs, r->intern, r->sort, kuw_area(r->areas, KUW_AREA_ORDER));
	rank_rules(r, kuw_area(r->areas, KUW_AREA_ORDER));
	count_rules(r);
	for (i = 1; i < r->runs->nr_nodes; i++)
		if (nodes[i].take == nodes[i].depth)
			r->nr_entries += nodes[i].uses * run_places(r, nodes[i].run);
	write_codes(r);
	return 0;
}

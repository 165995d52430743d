// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Ranks and codes of rules, and the rules of the table: see table.h. */
#include "rank.h"

static const u8 saved_regs[KUW_NR_SAVES] = KUW_SAVED_REGS;

/* Return: words from the CFA to the saved register; 0 if it is not saved in that way. */
static s32 saved_word(const struct kuw_rank *r, struct kuw_loc loc)
{
	s32 word = r->scan->intern->word;

	return loc.how == KUW_AT_CFA && loc.off % word == 0 ? loc.off / word : 0;
}

/* Return: whether struct kuw_saves can express @regs. Fills in @saves. */
static bool plain_regs(const struct kuw_rank *r, const struct kuw_regset *regs,
		       struct kuw_saves *saves)
{
	s32 word;
	u32 i;

	for (i = 0; i < KUW_NR_SAVES; i++) {
		word = saved_word(r, regs->reg[saved_regs[i]]);
		if (word != (s8)word ||
		    (!word && regs->reg[saved_regs[i]].how != KUW_SAME))
			return false;
		saves->word[i] = word;
	}
	for (i = 0; i < KUW_NR_REGS; i++)
		if (i != KUW_RA && !(KUW_CALLEE_SAVED & 1u << i) && regs->reg[i].how != KUW_SAME)
			return false;
	return saved_word(r, regs->reg[KUW_RA]) == -1;
}

/* Return: whether struct kuw_rule, with its struct kuw_saves, can express @rule. */
static bool plain_rule(const struct kuw_rank *r, const struct kuw_ruleset *rule,
		       const struct kuw_regset *regs)
{
	s32 rbp = saved_word(r, regs->reg[KUW_RBP]);
	const struct kuw_loc cfa = rule->cfa;
	s32 word = r->scan->intern->word, words = cfa.off / word;
	struct kuw_saves saves;

	return !rule->signal && cfa.how == KUW_REG &&
	       (cfa.reg == KUW_RSP || cfa.reg == KUW_RBP) &&
	       cfa.off % word == 0 && words >= 0 && words <= KUW_RULE_MAX_CFA &&
	       rbp >= KUW_RULE_MIN_RBP && rbp <= KUW_RULE_MAX_RBP && plain_regs(r, regs, &saves);
}

/* Return: the code of a rule, its last byte highest. */
static u32 code_of(u32 rank)
{
	if (rank < KUW_CODE_PAIR)
		return rank;
	if (rank < (KUW_CODE_LONGEST - KUW_CODE_LONG) << 8)
		return (KUW_CODE_LONG + (rank >> 8)) << 8 | (rank & 0xff);
	return KUW_CODE_LONGEST << 16 | rank;
}

/* Number the rules by use. Rule 0, which is none, keeps its number. */
static int rank_rules(struct kuw_rank *r, struct kuw_item *items)
{
	struct kuw_ruleset *rules = kuw_area(r->scan->areas, KUW_AREA_RULES);
	u32 i, n = r->scan->intern->nr_rules - 1;
	int ret;

	for (i = 0; i < n; i++)
		items[i] = (struct kuw_item){ ~rules[i + 1].uses, i + 1 };
	ret = kuw_sort(r->sort, r->scan->areas, items, n);
	for (i = 0; !ret && i < n; i++)
		rules[items[i].value].code = code_of(i + 1);
	return ret;
}

static struct kuw_ruleset *ranked(const struct kuw_rank *r, u32 rank)
{
	struct kuw_ruleset *rules = kuw_area(r->scan->areas, KUW_AREA_RULES);
	const struct kuw_item *items = kuw_area(r->scan->areas, KUW_AREA_ORDER);

	return &rules[items[rank - 1].value];
}

/* Make the rules of the table in the order of use, so that frequent ones get the limited saves. */
static void make_rules(struct kuw_rank *r)
{
	struct kuw_regset *sets = kuw_area(r->scan->areas, KUW_AREA_REGS), *regs;
	s32 word = r->scan->intern->word;
	struct kuw_ruleset *rule;
	u32 i, kind;

	for (i = 1; i < r->scan->intern->nr_rules; i++) {
		rule = ranked(r, i);
		regs = &sets[rule->regs];
		if (plain_rule(r, rule, regs) &&
		    (regs->saves || r->nr_saves < KUW_MAX_SAVES)) {
			if (!regs->saves)
				regs->saves = ++r->nr_saves;
			kind = rule->cfa.reg == KUW_RSP ? KUW_KIND_RSP : KUW_KIND_RBP;
			rule->bits = kuw_rule_plain(kind, rule->cfa.off / word, regs->saves - 1,
						    saved_word(r, regs->reg[KUW_RBP])).bits;
		} else {
			kind = regs->reg[KUW_RA].how == KUW_UNDEF ? KUW_KIND_END : KUW_KIND_FULL;
			rule->bits = r->nr_full++ << 3 | kind;
		}
	}
}

int kuw_rank_write(const struct kuw_rank *r, struct kuw_table *table)
{
	struct kuw_saves *saves = (void *)((u8 *)table + table->saves_off);
	struct kuw_rules *full = (void *)((u8 *)table + table->full_off);
	const struct kuw_regset *sets = kuw_area(r->scan->areas, KUW_AREA_REGS);
	const struct kuw_ruleset *rule;
	int ret = 0;
	u32 i;

	for (i = 0; i < r->scan->intern->nr_regs; i++)
		if (sets[i].saves)
			plain_regs(r, &sets[i], &saves[sets[i].saves - 1]);
	table->rules[0].bits = KUW_KIND_NONE;
	for (i = 1; !ret && i < r->scan->intern->nr_rules; i++) {
		rule = ranked(r, i);
		table->rules[i].bits = rule->bits;
		if (kuw_rule_is_plain(table->rules[i]))
			continue;
		full->kind = rule->signal ? KUW_RULES_SIGNAL : KUW_RULES_FRAME;
		full->cfa = rule->cfa;
		memcpy(full->reg, sets[rule->regs].reg, sizeof(full->reg));
		full++;
		ret = kuw_pause_after(r->scan->areas, sizeof(*full));
	}
	return ret;
}

int kuw_rank(struct kuw_rank *r)
{
	struct kuw_item *order;
	u64 items;
	int ret;

	ret = kuw_pairs_count(r);
	if (ret)
		return ret;
	/* Sequences are sorted after the rules, whose order stays. Both need twice the room. */
	items = 2ULL * (r->scan->intern->nr_rules + r->nr_sequences);
	ret = kuw_area_room(r->scan->areas, KUW_AREA_ORDER, items * sizeof(*order));
	if (ret)
		return ret;
	order = kuw_area(r->scan->areas, KUW_AREA_ORDER);
	ret = rank_rules(r, order);
	if (ret)
		return ret;
	make_rules(r);
	return kuw_pairs_choose(r, order + r->scan->intern->nr_rules);
}

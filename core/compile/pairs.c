// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The choice of pairs. Compilers write the same prologues and epilogues over and over, so a few
 * dozen sequences of rows make up more than half of the rows of a file.
 *
 * A sequence is a pair of the sequence before its last row, and that row. So a function with a
 * sequence also has all that it starts with, and each of these is seen as often or more often.
 * The most frequent sequences, as many as there are codes, are thus complete.
 */
#include "rank.h"
#include "budgets.h"

/* A pair takes four bytes of the table, and saves two for each use. */
#define LEAST_USES	4

/* Return: how many sequences are counted at most: half of the slots stay empty. */
static u32 most_sequences(const struct kuw_rank *p)
{
	return (p->mask + 1) / 2;
}

/* Count a sequence. Return: its number from KUW_MAX_RULES + 1 on; 0 if there is no room. */
static u32 count(struct kuw_rank *p, u32 before, u32 rule, u32 distance)
{
	struct kuw_sequence *sequences = kuw_area(p->scan->areas, KUW_AREA_SEQUENCES), *s;
	u64 key = (u64)before << 32 | rule << 8 | distance;
	u16 *slots = kuw_area(p->scan->areas, KUW_AREA_SLOTS);
	u32 at = key * KUW_MIX >> 32 & p->mask, tries;

	for (tries = 0; tries < KUW_MAX_SEQUENCE_TRIES; tries++, at = (at + 1) & p->mask) {
		if (!slots[at]) {
			if (p->nr_sequences == most_sequences(p))
				return 0;
			sequences[p->nr_sequences] = (struct kuw_sequence){ .key = key };
			slots[at] = ++p->nr_sequences;
		}
		s = &sequences[slots[at] - 1];
		if (s->key == key) {
			s->uses++;
			return KUW_MAX_RULES + slots[at];
		}
	}
	return 0;
}

/* Count the rows of the FDE at @head, @most of them. Return: how many. */
static u32 count_fde(struct kuw_rank *p, const u32 *head, u32 most)
{
	struct kuw_ruleset *rules = kuw_area(p->scan->areas, KUW_AREA_RULES);
	u32 left = *head, len = 0, distance = 0, before = 0, rule, n;
	const u32 *row = head + 1;

	for (n = 0; left && n < most; n++) {
		rule = kuw_found_rule(row);
		rules[rule].uses++;
		distance += len;
		len = kuw_found_next(&row);
		left -= len;
		if (len > KUW_PAIR_NEAR || distance >= 1u << KUW_BUCKET_SHIFT)
			before = 0;
		else if (before)
			before = count(p, before, rule, distance);
		if (!before) {
			before = len > KUW_PAIR_NEAR ? 0 : rule;
			distance = 0;
		}
	}
	return n;
}

int kuw_pairs_count(struct kuw_rank *p)
{
	const struct kuw_item *fdes = kuw_area(p->scan->areas, KUW_AREA_FDES);
	const u32 *found = kuw_area(p->scan->areas, KUW_AREA_FOUND);
	/* A row has one word, and seldom two. */
	u32 all = p->scan->found.nr - p->scan->nr_fdes, slots = 256, i, rows = 0;
	int ret;

	while (slots < min_t(u32, all, KUW_SAMPLE_ROWS) / 2)
		slots *= 2;
	p->mask = slots - 1;
	ret = kuw_area_room(p->scan->areas, KUW_AREA_SEQUENCES,
			    most_sequences(p) * sizeof(struct kuw_sequence)) ?:
	      kuw_area_room(p->scan->areas, KUW_AREA_SLOTS, slots * sizeof(u16));
	if (ret)
		return ret;
	memset(kuw_area(p->scan->areas, KUW_AREA_SLOTS), 0, slots * sizeof(u16));
	for (i = 0; i < p->scan->nr_fdes && rows < KUW_SAMPLE_ROWS; i += all / KUW_SAMPLE_ROWS + 1)
		rows += count_fde(p, found + fdes[i].value, KUW_SAMPLE_ROWS - rows);
	return 0;
}

/* Make a sequence a pair, if all of its rules have codes of one byte. */
static void choose(struct kuw_rank *p, struct kuw_sequence *s)
{
	const struct kuw_sequence *sequences = kuw_area(p->scan->areas, KUW_AREA_SEQUENCES);
	const struct kuw_ruleset *rules = kuw_area(p->scan->areas, KUW_AREA_RULES);
	u32 before = s->key >> 32, rule = rules[(u16)(s->key >> 8)].code, pair, at;

	/* What was counted later has a greater number, so it is never met before its start. */
	before = before > KUW_MAX_RULES ? sequences[before - KUW_MAX_RULES - 1].code :
					  rules[before].code;
	if (!before || before > U8_MAX || rule > U8_MAX)
		return;
	pair = kuw_pair(before, rule, s->key);
	for (at = kuw_pair_slot(pair); p->slots[at]; at = (at + 1) % KUW_PAIR_SLOTS)
		;
	s->code = KUW_CODE_PAIR + p->nr_pairs;
	p->pair[p->nr_pairs++] = pair;
	p->slots[at] = p->nr_pairs;
}

int kuw_pairs_choose(struct kuw_rank *p, struct kuw_item *items)
{
	struct kuw_sequence *sequences = kuw_area(p->scan->areas, KUW_AREA_SEQUENCES);
	u32 i, n = 0;
	int ret;

	for (i = 0; i < p->nr_sequences; i++)
		if (sequences[i].uses >= LEAST_USES)
			items[n++] = (struct kuw_item){ ~sequences[i].uses, i };
	/* Of as many uses, the first counted stays first. */
	ret = kuw_sort(p->sort, p->scan->areas, items, n);
	for (i = 0; !ret && i < n && p->nr_pairs < KUW_MAX_PAIRS; i++)
		choose(p, &sequences[items[i].value]);
	return ret;
}

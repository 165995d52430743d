// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See loop.h. */
#include "loop.h"
#include "apply.h"

/* A bucket with as many cells is dense: to look at each takes too long. Seen: 209. */
#define DENSE	32

/* Return: whether a table covers @pc. */
static bool find_cover(const struct kuw_map *map, u64 pc, struct kuw_cover *in)
{
	const struct kuw_mapping *m = kuw_map_find(map, pc);
	u64 text;

	in->len = 0;
	if (!m || m->kind != KUW_MAPPING_TABLE || m->table->word != KUW_WORD)
		return false;
	text = m->bias + m->table->base;
	/* The mapping may be after the last row, or before the first. */
	if (pc - text >= m->table->span)
		return false;
	/* All of these change: a mispredicted look_up() may use them, although @len is 0. */
	in->look = kuw_table_look(m->table);
	/* @pc is in the mapping and in the text, so both differences below are positive. */
	in->lo = (s64)(m->start - text) > 0 ? m->start : text;
	in->len = min_t(u64, m->end - in->lo, text + m->table->span - in->lo) - 1;
	in->off = in->lo - text;
	return pc - in->lo < in->len;
}

/*
 * The end of a look-up where @rule may not be plain, or where a function may start at the return
 * address. Return: @rule, or KUW_KIND_NONE if the loop cannot apply it.
 */
static noinline struct kuw_rule keep_if_called(struct kuw_loop *w, u64 pc,
					       struct kuw_cache_entry *entry, struct kuw_rule rule)
{
	const struct kuw_rule none = { KUW_KIND_NONE };
	const struct kuw_cover *in = &w->in;
	int called;

	if (!kuw_rule_is_plain(rule) && kuw_rule_kind(rule) != KUW_KIND_END)
		return none;
	/* If the code cannot be read now, another walk may read it: keep nothing. */
	called = kuw_is_called(in->look.table, in->lo - in->off, pc, rule);
	w->faults += called < 0;
	if (called != 1)
		return none;
	*entry = (struct kuw_cache_entry){ pc, rule, w->epoch };
	return rule;
}

/* The end of a look-up that has found @rule, at offset @off. Return: as look_up(). */
static inline struct kuw_rule keep(struct kuw_loop *w, u64 pc, struct kuw_cache_entry *entry,
				   struct kuw_rule rule, u32 off)
{
	if (!kuw_rule_is_plain(rule) || (off + 1) % KUW_FDE_ALIGN == 0)
		return keep_if_called(w, pc, entry, rule);
	*entry = (struct kuw_cache_entry){ pc, rule, w->epoch };
	return rule;
}

/* The same as look_up(), for all addresses. */
static noinline struct kuw_rule look_closer(struct kuw_loop *w, u64 pc,
					    struct kuw_cache_entry *entry)
{
	struct kuw_cover *in = &w->in;
	struct kuw_rule rule = { KUW_KIND_NONE };

	if (pc - in->lo < in->len || find_cover(w->map, pc, in)) {
		rule = kuw_table_find(in->look.table, pc - in->lo + in->off);
		rule = keep_if_called(w, pc, entry, rule);
	}
	/* What was loaded, and what find_cover() has stored, may have been mispredicted. */
	kuw_port_barrier();
	return rule;
}

/* The end of look_up() with a code of more than one byte, or a pair's: it ends in @last. */
static noinline struct kuw_rule decode(struct kuw_loop *w, u64 pc, struct kuw_cache_entry *entry,
				       const struct kuw_cell *last, u32 off)
{
	const struct kuw_cover *in = &w->in;
	const bool starts = last >= kuw_bucket_of(&in->look, off).cells;
	const u32 number = kuw_rule_number(in->look.table, last, off, starts);

	return keep(w, pc, entry, in->look.table->rules[number], off);
}

/*
 * Return: the rule at @pc, which @entry has from now on, or KUW_KIND_NONE if the loop cannot apply
 * it. For most addresses this calls no function, and so saves no register. What it finds comes from
 * the table alone, whatever a processor mispredicts, so it needs no barrier: one would make such a
 * frame half again as long.
 */
static noinline struct kuw_rule look_up(struct kuw_loop *w, u64 pc, struct kuw_cache_entry *entry)
{
	const struct kuw_cover *in = &w->in;
	const u64 at = pc - in->lo;
	struct kuw_bucket bucket;
	const struct kuw_cell *next, *last;
	u32 off;
	u8 ra;

	if (at >= in->len)
		return look_closer(w, pc, entry);
	/* The program chose it, and a mispredicted walk may have taken the wrong branch before. */
	off = in->off + kuw_port_index(at, in->len);
	bucket = kuw_bucket_of(&in->look, off);
	ra = off + 1;
	/* A return address whose low byte is 0 is in the next bucket. */
	if (bucket.n >= DENSE || !ra)
		return look_closer(w, pc, entry);
	for (next = bucket.cells; next < bucket.cells + bucket.n && next->low <= ra; next++)
		;
	/* It may have been mispredicted that the bucket has so many cells. */
	last = bucket.cells + kuw_port_index(next - bucket.cells, bucket.n + 1) - 1;
	/*
	 * What starts at the return address may be a function. In the bucket before, the low byte
	 * says nothing; a closer look does no harm.
	 */
	if (last->low == ra)
		return look_closer(w, pc, entry);
	if (last->code >= KUW_CODE_PAIR)
		return decode(w, pc, entry, last, off);
	return keep(w, pc, entry, in->look.table->rules[last->code], off);
}

u32 kuw_loop_run(struct kuw_loop *w)
{
	struct kuw_cache_entry *entry;
	u64 pc = w->pc, sp = w->sp, bp = w->bp, *out = w->out;
	u64 cfa, ip, caller_bp;
	const u64 user_end = KUW_PORT_USER_END;
	const u32 epoch = w->epoch;
	u32 ret = KUW_STEPPED;
	struct kuw_rule rule;
	s64 saved;

	/* While user memory is open, no function may be called. */
	kuw_port_open();
	for (;;) {
		entry = kuw_cache_at(w->entries, sp);
		rule = entry->rule;
		if (unlikely(entry->pc != pc || entry->epoch != epoch)) {
			kuw_port_close();
			rule = look_up(w, pc, entry);
			kuw_port_reopen();
		}
		if (unlikely(!kuw_rule_is_plain(rule))) {
			if (kuw_rule_kind(rule) == KUW_KIND_END)
				ret = KUNWIND_STOP_COMPLETE;
			break;
		}
		cfa = (kuw_rule_by_rbp(rule) ? bp : sp) +
		      kuw_rule_cfa(rule, KUW_WORD);
		saved = kuw_rule_rbp(rule, KUW_WORD);
		caller_bp = bp;
		/* kuw_step() finds out why: another stack, or the start of this one. */
		if (!kuw_may_be_cfa(cfa, sp, KUW_WORD) ||
		    kuw_port_read_open(cfa - KUW_WORD, user_end, &ip) ||
		    (saved && kuw_port_read_open(cfa + saved, user_end, &caller_bp)) ||
		    !kuw_may_be_ra(ip, user_end))
			break;
		if (out == w->last) {
			ret = KUNWIND_STOP_CAPACITY;
			break;
		}
		*out++ = ip;
		sp = cfa;
		bp = caller_bp;
		/* A return address can be the first byte of the next function
		 * after a call that does not return.
		 */
		pc = ip - 1;
	}
	kuw_port_close();
	w->sp = sp;
	w->bp = bp;
	w->pc = pc;
	w->out = out;
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk. Its state is {ip, sp, bp}: nearly all rules need no more, and the
 * loop that applies them keeps the three in machine registers. What is rare
 * (expressions, signal frames, code without an FDE) goes through kuw_step(), which
 * can do everything. A rule that needs a register which the loop has not
 * followed makes the walk begin again, following all of them.
 */
#include "walk.h"
#include "limits.h"
#include "memo.h"
#include "step.h"

static void begin(struct kuw_state *w, const struct kuw_map *map,
		  const struct kuw_port_regs *regs, u32 word)
{
	w->map = map;
	kuw_port_fill_regs(regs, w->regs.r);
	w->regs.r[KUW_RA] = kuw_port_ip(regs);
	w->regs.known = KUW_KNOWN_ALL;
	w->regs.unknown = false;
	w->regs.steps = KUW_MAX_EXPR_STEPS;
	w->regs.word = word;
	w->switches = KUW_MAX_STACK_SWITCHES;
	w->inner = true;
	w->guessed = false;
}

/* The frames are written, and this is why they end. */
static void finish(u32 stop, struct kuw_result *result)
{
	if (!result->proven)
		result->proven = result->count;
	result->stop = stop;
	if (stop == KUNWIND_STOP_CAPACITY && result->count == KUNWIND_MAX_FRAMES)
		result->stop = KUNWIND_STOP_MAX_FRAMES;
}

/* All registers are followed: the way of the few stacks that need them, and of i386. */
static noinline u32 walk_full(struct kuw_state *w, u64 *frames, u32 limit,
			      struct kuw_result *result)
{
	u32 n = 1, ret;

	for (;;) {
		ret = kuw_step(w);
		if (ret != KUW_STEPPED)
			break;
		if (w->replaced)
			n--;
		if (n == limit) {
			ret = KUNWIND_STOP_CAPACITY;
			break;
		}
		if (w->guessed && !result->proven)
			result->proven = n;
		frames[n++] = w->regs.r[KUW_RA];
	}
	result->count = n;
	return ret;
}

/*
 * What the loop knows of the mapping that it is in: the addresses that its table
 * covers, and where offset 0 of the table is.
 */
struct cover {
	u64 lo;
	u64 len;
	u64 text;
	const struct kuw_table *table;
	const u32 *blocks;
};

/* Return: whether a table covers @pc. */
static noinline bool find_cover(const struct kuw_map *map, u64 pc,
				struct cover *in)
{
	const struct kuw_mapping *m = kuw_map_find(map, pc);

	in->len = 0;
	if (!m || m->kind != KUW_MAPPING_TABLE || m->table->word != KUW_WORD)
		return false;
	in->table = m->table;
	in->blocks = kuw_table_blocks(in->table);
	in->text = m->bias + in->table->base;
	/* The mapping may lie behind the last row, or before the first. */
	if (pc - in->text >= in->table->span)
		return false;
	/* @pc is in both, so both differences below are positive. */
	in->lo = (s64)(m->start - in->text) > 0 ? m->start : in->text;
	in->len = min_t(u64, m->end - in->lo, in->text + in->table->span - in->lo);
	return true;
}

/*
 * Fill the memo's @entry for @pc. Return: false if the rule is not one that the
 * loop can apply.
 */
static noinline bool fill_entry(const struct kuw_map *map, u64 pc, u16 epoch,
				struct cover *in, struct kuw_memo_entry *entry)
{
	struct kuw_rule rule;

	if (pc - in->lo >= in->len && !find_cover(map, pc, in))
		return false;
	rule = kuw_table_look(in->table, in->blocks, pc - in->text);
	if (kuw_rule_kind(rule) > KUW_KIND_RBP || !kuw_rule_holds(pc))
		return false;
	entry->pc = pc;
	entry->cfa = kuw_rule_cfa(rule, KUW_WORD);
	entry->rbp = kuw_rule_rbp(rule, KUW_WORD);
	entry->tag = epoch + (kuw_rule_kind(rule) == KUW_KIND_RBP);
	return true;
}

void kuw_walk(const struct kuw_map *map, struct kuw_memo *memo,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result)
{
	u64 *out = frames, *last, pc;
	struct cover in = { .len = 0 };
	struct kuw_memo_entry *entry;
	struct kuw_frame f;
	struct kuw_state w;
	u32 ret, epoch, by_rbp;

	result->count = 0;
	result->proven = 0;
	result->stop = KUNWIND_STOP_CAPACITY;
	if (!capacity)
		return;
	last = frames + min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	f.ip = kuw_port_ip(regs);
	f.sp = kuw_port_sp(regs);
	f.bp = kuw_port_bp(regs);
	pc = f.ip;
	*out++ = f.ip;
	w.map = NULL;
	epoch = kuw_memo_use(memo, map);
	for (;;) {
		for (;;) {
			entry = kuw_memo_slot(memo, pc);
			by_rbp = entry->tag - epoch;
			if (unlikely(entry->pc != pc || by_rbp > 1)) {
				if (!fill_entry(map, pc, epoch, &in, entry))
					break;
				by_rbp = entry->tag - epoch;
			}
			ret = kuw_apply(by_rbp ? f.bp : f.sp, entry->cfa,
					entry->rbp, KUW_WORD, &f);
			if (unlikely(ret != KUW_STEPPED))
				goto out;
			if (unlikely(out == last)) {
				ret = KUNWIND_STOP_CAPACITY;
				goto out;
			}
			*out++ = f.ip;
			/* A return address can be the first byte of the next
			 * function after a call that does not return.
			 */
			pc = f.ip - 1;
		}
		if (!w.map || out == frames + 1)
			begin(&w, map, regs, KUW_WORD);
		if (out > frames + 1) {
			kuw_store_frame(&w, &f);
			w.regs.known = KUW_KNOWN_FAST;
			w.inner = pc == f.ip;
		}
		ret = kuw_step(&w);
		if (w.regs.unknown ||
		    (ret == KUW_STEPPED && ~w.regs.known & KUW_KNOWN_FAST)) {
			/* A register is needed that is not followed, or one of
			 * the loop's own is lost: begin again.
			 */
			begin(&w, map, regs, KUW_WORD);
			result->proven = 0;
			ret = walk_full(&w, frames, last - frames, result);
			out = frames + result->count;
			goto out;
		}
		if (ret != KUW_STEPPED)
			goto out;
		if (w.replaced)
			out--;
		if (out == last) {
			ret = KUNWIND_STOP_CAPACITY;
			goto out;
		}
		if (w.guessed && !result->proven)
			result->proven = out - frames;
		kuw_load_frame(&w, &f);
		*out++ = f.ip;
		pc = f.ip - !w.inner;
	}
out:
	result->count = out - frames;
	finish(ret, result);
}

void kuw_walk_i386(const struct kuw_map *map, const struct kuw_port_regs *regs,
		   u64 *frames, u32 capacity, struct kuw_result *result)
{
	struct kuw_state w;
	u32 i;

	result->count = 0;
	result->proven = 0;
	result->stop = KUNWIND_STOP_CAPACITY;
	if (!capacity)
		return;
	capacity = min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	begin(&w, map, regs, KUW_I386_WORD);
	w.regs.r[KUW_I386_ESI] = w.regs.r[KUW_RSI];
	w.regs.r[KUW_I386_EDI] = w.regs.r[KUW_RDI];
	for (i = 0; i < KUW_NR_REGS; i++)
		w.regs.r[i] = (u32)w.regs.r[i];
	frames[0] = w.regs.r[KUW_RA];
	finish(walk_full(&w, frames, capacity, result), result);
}

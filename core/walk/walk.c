// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk. Its state is {ip, sp, bp}: nearly all rules need no more, and the loop that
 * applies them keeps the three in machine registers. Rare cases (expressions, signal frames,
 * code without an FDE) go through kuw_step(), which can do everything. If a rule needs a
 * register that the loop has not followed, the walk starts again and follows all registers.
 */
#include "walk.h"
#include "budgets.h"
#include "rule_cache.h"
#include "step.h"

/* Set the budgets of time, which are for a walk, or for a piece of one. */
static void fill_budgets(struct kuw_state *w)
{
	w->regs.steps = KUW_MAX_EXPR_STEPS;
	w->faults = 0;
	w->insns = KUW_MAX_INSNS;
}

/* List frame @index as interrupted. Return: KUW_STEPPED, or the stop reason. */
static u32 note_interrupted(struct kuw_result *result, u32 index)
{
	if (result->nr_interrupted == KUW_MAX_INTERRUPTED)
		return KUNWIND_STOP_SIGNAL_BUDGET;
	result->interrupted[result->nr_interrupted++] = index;
	return KUW_STEPPED;
}

/*
 * Walk and follow all registers: for the few stacks that need them, for walks in pieces, and
 * for i386. The current frame of @w is the next one to write. That holds after
 * KUNWIND_STOP_CAPACITY, too, so that the next piece starts there.
 */
static noinline u32 walk_full(struct kuw_state *w, u64 *frames, u32 limit,
			      struct kuw_result *result)
{
	u32 n = 0, ret = KUW_STEPPED;

	result->proven = 0;
	result->nr_interrupted = 0;
	while (ret == KUW_STEPPED) {
		if (n == limit) {
			ret = KUNWIND_STOP_CAPACITY;
			break;
		}
		kuw_restore_ra(w);
		if (w->inner && w->moved) {
			ret = note_interrupted(result, n);
			if (ret != KUW_STEPPED)
				break;
		}
		frames[n++] = w->regs.r[KUW_RA];
		if (!w->guessed)
			result->proven = n;
		ret = kuw_step(w);
		w->moved = true;
	}
	result->count = n;
	return ret;
}

/* Set the stop reason, when the frames are written. */
static void finish(u32 stop, struct kuw_result *result)
{
	result->stop = stop;
	if (stop == KUNWIND_STOP_CAPACITY && result->count == KUNWIND_MAX_FRAMES)
		result->stop = KUNWIND_STOP_MAX_FRAMES;
}

/*
 * The mapping that the loop is in: the @len addresses from @lo on that its table @look covers,
 * and @text, the address of the table's offset 0. The last address of a mapping is left out:
 * the return address after it is in the next mapping, which may be the trampoline of uretprobes.
 */
struct cover {
	u64 lo;
	u64 len;
	u64 text;
	struct kuw_look look;
};

/* The state of the loop, on the stack of kuw_walk(). */
struct fast {
	const struct kuw_map *map;
	struct kuw_cache_entry *entries;
	u32 epoch;		/* of @map */
	u64 sp;			/* of the current frame, whose ip is the last one written */
	u64 bp;
	u64 pc;			/* where its rule is: its ip, or one less if a call left it */
	u64 *out;		/* where to write the next frame */
	u64 *last;		/* the end of the room for frames */
	u32 faults;		/* failed reads that walk_mixed() has not counted yet */
	struct cover in;	/* the table that the last look-up was in */
};

/* Return: whether a table covers @pc. */
static bool find_cover(const struct kuw_map *map, u64 pc, struct cover *in)
{
	const struct kuw_mapping *m = kuw_map_find(map, pc);

	in->len = 0;
	if (!m || m->kind != KUW_MAPPING_TABLE || m->table->word != KUW_WORD)
		return false;
	in->look = kuw_table_look(m->table);
	in->text = m->bias + m->table->base;
	/* The mapping may be after the last row, or before the first. */
	if (pc - in->text >= m->table->span)
		return false;
	/* @pc is in the mapping and in the text, so both differences below are positive. */
	in->lo = (s64)(m->start - in->text) > 0 ? m->start : in->text;
	in->len = min_t(u64, m->end - in->lo, in->text + m->table->span - in->lo) - 1;
	return pc - in->lo < in->len;
}

/* Return: the rule at an address, or KUW_KIND_NONE if the loop cannot apply it. */
static struct kuw_rule find_rule(struct fast *w, u64 pc)
{
	const struct kuw_rule none = { KUW_KIND_NONE };
	struct cover *in = &w->in;
	struct kuw_rule rule;
	int called;

	if (pc - in->lo >= in->len && !find_cover(w->map, pc, in))
		return none;
	rule = kuw_table_find(in->look.table, pc - in->text);
	if (!kuw_rule_is_plain(rule) && kuw_rule_kind(rule) != KUW_KIND_END)
		return none;
	/* If the code cannot be read now, another walk may read it: keep nothing. */
	called = kuw_is_called(pc);
	w->faults += called < 0;
	return called == 1 ? rule : none;
}

/* The same as look_up(), for all addresses. */
static noinline struct kuw_rule look_closer(struct fast *w, u64 pc,
					    struct kuw_cache_entry *entry)
{
	struct kuw_rule rule = find_rule(w, pc);

	/* What was loaded, and what find_cover() has stored, may have been mispredicted. */
	kuw_port_barrier();
	if (kuw_rule_kind(rule) != KUW_KIND_NONE)
		*entry = (struct kuw_cache_entry){ pc, rule, w->epoch };
	return rule;
}

/*
 * Return: the rule at @pc, which @entry has from now on, or KUW_KIND_NONE if the loop cannot apply
 * it. Nearly always this calls no function, and so saves no register; and it loads nothing but the
 * table, whatever a processor mispredicts, so it needs no barrier: one would make such a frame half
 * again as long.
 */
static noinline struct kuw_rule look_up(struct fast *w, u64 pc, struct kuw_cache_entry *entry)
{
	const struct cover *in = &w->in;
	struct kuw_bucket bucket;
	struct kuw_rule rule;
	u32 code;

	if (unlikely(pc - in->lo >= in->len) || unlikely((pc + 1) % KUW_FDE_ALIGN == 0))
		return look_closer(w, pc, entry);
	bucket = kuw_bucket_of(&in->look, pc - in->text);
	if (unlikely(bucket.n >= KUW_DENSE))
		return look_closer(w, pc, entry);
	code = *kuw_search(bucket, pc - in->text, 0, bucket.n).code;
	if (unlikely(code >= KUW_CODE_PAIR))
		return look_closer(w, pc, entry);
	rule = in->look.table->rules[code];
	if (unlikely(!kuw_rule_is_plain(rule)))
		return look_closer(w, pc, entry);
	*entry = (struct kuw_cache_entry){ pc, rule, w->epoch };
	return rule;
}

/*
 * Follow frames as long as their rules are plain. Return: KUW_STEPPED if a frame needs
 * kuw_step(), or the stop reason.
 */
static noinline u32 walk_fast(struct fast *w)
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
		if (unlikely(kuw_check_cfa(cfa, sp, KUW_WORD)) ||
		    unlikely(kuw_port_read_open(cfa - KUW_WORD, user_end, &ip)) ||
		    (saved && unlikely(kuw_port_read_open(cfa + saved, user_end, &caller_bp))) ||
		    unlikely(kuw_check_ra(ip, user_end) != KUW_STEPPED))
			break;
		if (unlikely(out == w->last)) {
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

/* Make the loop's frame that of @w. The loop has followed no other registers. */
static void take_over(struct kuw_state *w, const struct fast *fast)
{
	w->regs.r[KUW_RA] = fast->out[-1];
	w->regs.r[KUW_RSP] = fast->sp;
	w->regs.r[KUW_RBP] = fast->bp;
	w->regs.known = KUW_KNOWN_FAST;
	w->inner = fast->pc == fast->out[-1];
}

/* Continue where a frame needs kuw_step(). Return: the stop reason. */
static noinline u32 walk_mixed(struct fast *fast, const struct kuw_port_regs *regs,
			       u64 *frames, struct kuw_result *result)
{
	struct kuw_state w;
	u32 ret, steps = 0;
	u64 *before;

	/* 0: no guess yet. */
	result->proven = 0;
	kuw_state_start(&w, regs, KUW_WORD);
	fill_budgets(&w);
	w.map = fast->map;
	if (fast->out > frames + 1)
		take_over(&w, fast);
	for (;;) {
		kuw_restore_ra(&w);
		fast->out[-1] = w.regs.r[KUW_RA];
		w.faults += fast->faults;
		fast->faults = 0;
		ret = kuw_step(&w);
		if (w.regs.unknown && steps <= KUW_MAX_REDONE) {
			/* The rule needs a register that the loop did not follow: start
			 * again, with all registers. The budgets are not filled again. As each
			 * frame costs time twice, only half of the operators that are left may
			 * be used.
			 */
			kuw_state_start(&w, regs, KUW_WORD);
			w.regs.steps /= 2;
			ret = walk_full(&w, frames, fast->last - frames, result);
			fast->out = frames + result->count;
			return ret;
		}
		if (ret == KUW_STEPPED && fast->out == fast->last)
			ret = KUNWIND_STOP_CAPACITY;
		if (ret != KUW_STEPPED)
			break;
		steps++;
		if (w.guessed && !result->proven)
			result->proven = fast->out - frames;
		if (w.inner) {
			ret = note_interrupted(result, fast->out - frames);
			if (ret != KUW_STEPPED)
				break;
		}
		*fast->out++ = w.regs.r[KUW_RA];
		/* The loop needs rbp, which may be lost until a rule finds it again. */
		if (~w.regs.known & KUW_KNOWN_FAST)
			continue;
		fast->sp = w.regs.r[KUW_RSP];
		fast->bp = w.regs.r[KUW_RBP];
		fast->pc = w.regs.r[KUW_RA] - !w.inner;
		before = fast->out;
		ret = walk_fast(fast);
		if (ret != KUW_STEPPED)
			break;
		/* Where the loop has applied no rule, other registers are known still. */
		if (fast->out > before)
			take_over(&w, fast);
	}
	if (!result->proven)
		result->proven = fast->out - frames;
	return ret;
}

void kuw_walk(const struct kuw_map *map, struct kuw_rule_cache *cache,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result)
{
	kuw_port_uninitialized struct fast w;
	u32 ret;

	result->nr_interrupted = 0;
	if (unlikely(!capacity)) {
		result->count = 0;
		result->proven = 0;
		result->stop = KUNWIND_STOP_CAPACITY;
		return;
	}
	w.map = map;
	w.entries = cache->entries;
	w.epoch = kuw_cache_epoch(cache, map->number);
	w.sp = kuw_port_sp(regs);
	w.bp = kuw_port_bp(regs);
	w.pc = kuw_port_ip(regs);
	w.out = frames;
	w.last = frames + min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	w.faults = 0;
	w.in.len = 0;
	/* A mispredicted look_up() may use these, and they would be what was on the stack. */
	w.in.text = 0;
	w.in.look = (struct kuw_look){ NULL };
	*w.out++ = w.pc;
	ret = walk_fast(&w);
	/* Without a guess, all frames are proven. */
	result->proven = w.out - frames;
	if (unlikely(ret == KUW_STEPPED))
		ret = walk_mixed(&w, regs, frames, result);
	result->count = w.out - frames;
	finish(ret, result);
}

void kuw_walk_more(struct kuw_state *w, const struct kuw_map *map, u64 *frames,
		   u32 capacity, struct kuw_result *result)
{
	w->map = map;
	fill_budgets(w);
	finish(walk_full(w, frames, min_t(u32, capacity, KUNWIND_MAX_FRAMES), result),
	       result);
}

void kuw_walk_i386(const struct kuw_map *map, const struct kuw_port_regs *regs,
		   u64 *frames, u32 capacity, struct kuw_result *result)
{
	struct kuw_state w;

	kuw_state_start(&w, regs, KUW_I386_WORD);
	kuw_walk_more(&w, map, frames, capacity, result);
}

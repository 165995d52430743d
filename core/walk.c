// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk. Its state is {ip, sp, bp}: nearly all rules need no more, and the loop that
 * applies them keeps the three in machine registers. Rare cases (expressions, signal frames,
 * code without an FDE) go through kuw_step(), which can do everything. If a rule needs a
 * register that the loop has not followed, the walk starts again and follows all registers.
 */
#include "walk.h"
#include "limits.h"
#include "memo.h"
#include "step.h"

void kuw_walk_begin(struct kuw_state *w, const struct kuw_port_regs *regs, u32 word)
{
	u32 i;

	kuw_port_fill_regs(regs, w->regs.r);
	w->regs.r[KUW_RA] = kuw_port_ip(regs);
	if (word != KUW_WORD) {
		w->regs.r[KUW_I386_ESI] = w->regs.r[KUW_RSI];
		w->regs.r[KUW_I386_EDI] = w->regs.r[KUW_RDI];
		for (i = 0; i < KUW_NR_REGS; i++)
			w->regs.r[i] = (u32)w->regs.r[i];
	}
	w->regs.known = KUW_KNOWN_ALL;
	w->regs.unknown = false;
	w->regs.steps = KUW_MAX_EXPR_STEPS;
	w->regs.word = word;
	w->switches = KUW_MAX_STACK_SWITCHES;
	w->faults = 0;
	w->inner = true;
	w->moved = false;
	w->guessed = false;
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
		if (ret == KUW_STEPPED && w->replaced)
			n--;
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
 * The table of the mapping that the loop is in: the @len addresses from @lo on that it covers,
 * and @text, the address of its offset 0.
 */
struct cover {
	u64 lo;
	u64 len;
	u64 text;
	const struct kuw_table *table;
	const u32 *blocks;
};

/*
 * The state of the loop, on the stack of kuw_walk().
 * @pc: where to look up the frame's rule: its ip, or one less if a call left the frame
 * @breaks: how often this walk broke the memo's order
 * @learnt: how many entries this walk added
 * @faults: failed reads that walk_mixed() has not counted yet
 */
struct fast {
	const struct kuw_map *map;
	struct kuw_memo *memo;
	u32 breaks;
	u32 learnt;
	u32 faults;
	struct kuw_frame f;
	u64 pc;
	u64 *out;
	u64 *last;
	struct cover in;
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
	/* The mapping may be after the last row, or before the first. */
	if (pc - in->text >= in->table->span)
		return false;
	/* @pc is in the mapping and in the text, so both differences below are positive. */
	in->lo = (s64)(m->start - in->text) > 0 ? m->start : in->text;
	in->len = min_t(u64, m->end - in->lo, in->text + in->table->span - in->lo);
	return true;
}

/* Return: whether an entry of the memo can express @rule, so that the loop can apply it. */
static bool to_entry(struct fast *w, struct kuw_rule rule, struct kuw_memo_entry *entry)
{
	u32 cfa = kuw_rule_cfa(rule, 1), rbp = -kuw_rule_rbp(rule, 1);
	u64 bits, pc = w->pc;
	int called;

	if (!pc || pc >> KUW_MEMO_PC_BITS)
		return false;
	switch (kuw_rule_kind(rule)) {
	case KUW_KIND_END:
		bits = 0;
		break;
	case KUW_KIND_RSP:
	case KUW_KIND_RBP:
		if (cfa - 1 >= KUW_MEMO_CFA_MAX || rbp > KUW_MEMO_RBP_MAX)
			return false;
		/* If the code cannot be read now, another walk may read it: add nothing. */
		called = kuw_is_called(pc);
		w->faults += called < 0;
		if (called != 1)
			return false;
		bits = cfa * KUW_WORD | rbp;
		if (kuw_rule_kind(rule) == KUW_KIND_RBP)
			bits |= KUW_MEMO_BY_RBP;
		break;
	default:
		return false;
	}
	entry->bits = pc << KUW_MEMO_PC_SHIFT | bits;
	return true;
}

/*
 * Look up the rule at @w->pc in its table, and add it to the memo. Return: the new entry; NULL
 * if the loop cannot apply the rule.
 */
static noinline const struct kuw_memo_entry *learn(struct fast *w)
{
	struct cover *in = &w->in;
	struct kuw_memo_entry entry;
	struct kuw_rule rule;

	if (w->pc - in->lo >= in->len && !find_cover(w->map, w->pc, in))
		return NULL;
	/* The return address may be in the next mapping, the trampoline of uretprobes. */
	if (unlikely(w->pc + 1 - in->lo == in->len))
		return NULL;
	rule = kuw_table_look(in->table, in->blocks, w->pc - in->text);
	if (!to_entry(w, rule, &entry))
		return NULL;
	w->learnt++;
	return kuw_memo_add(w->memo, entry);
}

/*
 * Follow frames from that of *@at on, as long as the memo knows the next one. Return: the stop
 * reason; or KUW_STEPPED, with *@at the entry of the outermost frame, or NULL if the memo does
 * not know the frame.
 */
static noinline u32 follow(struct fast *w, const struct kuw_memo_entry **at)
{
	const struct kuw_memo_entry *entry = *at;
	struct kuw_memo_entry now = *entry, next;
	const u64 user_end = KUW_PORT_USER_END;
	u64 *out = w->out, *last = w->last, pc, cfa;
	struct kuw_frame f = w->f, caller;
	u32 ret, breaks = w->breaks;

	/* No function may be called from here to kuw_port_close(). */
	kuw_port_open();
	for (;;) {
		/* In an entry without a rule, the CFA equals rsp, so that the check fails. */
		cfa = (now.bits & KUW_MEMO_BY_RBP ? f.bp : f.sp) + kuw_memo_cfa(now);
		ret = kuw_check_cfa(cfa, f.sp, KUW_WORD);
		if (unlikely(ret))
			break;
		ret = kuw_read_caller(cfa, kuw_memo_rbp(now), KUW_WORD, user_end, true, &f,
				      &caller);
		if (unlikely(ret != KUW_STEPPED))
			break;
		/* A return address can be the first byte of the next function
		 * after a call that does not return.
		 */
		pc = caller.ip - 1;
		next = entry[1];
		if (likely(kuw_memo_pc(next) == pc)) {
			entry++;
			now = next;
		} else if (kuw_memo_pc(now) != pc) {
			/* Return addresses that the memo knows need no check. */
			ret = kuw_check_ra(caller.ip, user_end);
			if (unlikely(ret != KUW_STEPPED))
				break;
			entry = kuw_memo_find(w->memo, pc);
			if (!entry) {
				f = caller;
				break;
			}
			now = *entry;
			breaks++;
		}
		if (unlikely(out == last)) {
			ret = KUNWIND_STOP_CAPACITY;
			break;
		}
		*out++ = caller.ip;
		f = caller;
	}
	kuw_port_close();
	if (!entry && out == last) {
		ret = KUNWIND_STOP_CAPACITY;
	} else if (!entry) {
		*out++ = f.ip;
	} else if (ret != KUNWIND_STOP_CAPACITY && kuw_memo_is_last(now)) {
		ret = KUW_STEPPED;
		entry = now.bits ? entry : NULL;
	}
	*at = entry;
	/* If the loop followed no frame, this one may be an interrupted frame: keep @pc. */
	if (f.sp != w->f.sp)
		w->pc = f.ip - 1;
	w->breaks = breaks;
	w->f = f;
	w->out = out;
	return ret;
}

/* Return: KUW_STEPPED if a frame needs kuw_step(), or the stop reason. */
static u32 walk_fast(struct fast *w)
{
	const struct kuw_memo_entry *entry;
	u32 ret;

	entry = kuw_memo_find(w->memo, w->pc);
	for (;;) {
		if (unlikely(!entry)) {
			entry = learn(w);
			if (!entry)
				return KUW_STEPPED;
		}
		if (kuw_memo_is_last(*entry))
			return KUNWIND_STOP_COMPLETE;
		ret = follow(w, &entry);
		if (ret == KUNWIND_STOP_CAPACITY)
			return ret;
		/* kuw_step() finds out why: another stack, or the start of this one. */
		if (ret != KUW_STEPPED)
			return KUW_STEPPED;
	}
}

/* Continue where a frame needs kuw_step(). Return: the stop reason. */
static noinline u32 walk_mixed(struct fast *fast, const struct kuw_port_regs *regs,
			       u64 *frames, struct kuw_result *result)
{
	struct kuw_state w;
	u32 ret, faults;

	kuw_walk_begin(&w, regs, KUW_WORD);
	w.map = fast->map;
	for (;;) {
		if (fast->out > frames + 1) {
			kuw_store_frame(&w, &fast->f);
			w.regs.known = KUW_KNOWN_FAST;
			w.inner = fast->pc == fast->f.ip;
		}
		w.faults += fast->faults;
		fast->faults = 0;
		ret = kuw_step(&w);
		if (w.regs.unknown ||
		    (ret == KUW_STEPPED && ~w.regs.known & KUW_KNOWN_FAST)) {
			/* The rule needs a register that the loop did not follow, or one
			 * of the loop's own is lost: start again, with all registers.
			 */
			faults = w.faults;
			kuw_walk_begin(&w, regs, KUW_WORD);
			w.faults = faults;
			ret = walk_full(&w, frames, fast->last - frames, result);
			fast->out = frames + result->count;
			return ret;
		}
		if (ret != KUW_STEPPED)
			return ret;
		if (w.replaced)
			fast->out--;
		if (fast->out == fast->last)
			return KUNWIND_STOP_CAPACITY;
		if (w.guessed && !result->proven)
			result->proven = fast->out - frames;
		if (w.inner) {
			ret = note_interrupted(result, fast->out - frames);
			if (ret != KUW_STEPPED)
				return ret;
		}
		kuw_load_frame(&w, &fast->f);
		*fast->out++ = fast->f.ip;
		fast->pc = fast->f.ip - !w.inner;
		ret = walk_fast(fast);
		if (ret != KUW_STEPPED)
			return ret;
	}
}

/*
 * Write the entries of these frames again, in their order. If the index has lost an entry, a
 * later walk adds it again.
 */
static noinline void mend_order(struct kuw_memo *memo, const u64 *frames, u32 count)
{
	const struct kuw_memo_entry *entry;
	u32 i;

	for (i = 0; i < count; i++) {
		entry = kuw_memo_find(memo, frames[i] - !!i);
		if (entry)
			kuw_memo_repeat(memo, entry);
	}
}

/*
 * Whether the stack's entries are badly ordered: it broke the order more often than a good
 * stack does; or it has new frames, not only the innermost, next to frames that an earlier
 * walk met.
 */
static bool is_broken(const struct fast *w)
{
	return w->breaks > KUW_MEMO_BREAKS || (w->learnt > 1 && w->breaks);
}

void kuw_walk(const struct kuw_map *map, struct kuw_memo *memo,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result)
{
	struct fast w;
	bool broken;
	u32 ret;

	result->count = 0;
	result->proven = 0;
	result->nr_interrupted = 0;
	result->stop = KUNWIND_STOP_CAPACITY;
	if (!capacity)
		return;
	kuw_memo_use(memo, map);
	w.map = map;
	w.memo = memo;
	w.breaks = 0;
	w.learnt = 0;
	w.faults = 0;
	w.f.ip = kuw_port_ip(regs);
	w.f.sp = kuw_port_sp(regs);
	w.f.bp = kuw_port_bp(regs);
	w.pc = w.f.ip;
	w.in.lo = 0;
	w.in.len = 0;
	frames[0] = w.f.ip;
	w.out = frames + 1;
	w.last = frames + min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	ret = walk_fast(&w);
	if (unlikely(ret == KUW_STEPPED))
		ret = walk_mixed(&w, regs, frames, result);
	result->count = w.out - frames;
	/* Without a guess, all frames are proven. */
	if (!result->proven)
		result->proven = result->count;
	broken = is_broken(&w);
	if (unlikely(memo->debt))
		memo->debt--;
	if (unlikely(broken && memo->broken &&
		     memo->debt <= KUW_MEMO_DEBT - KUW_MEMO_SKIP)) {
		mend_order(memo, frames, result->count);
		memo->debt += KUW_MEMO_SKIP;
	}
	if (unlikely(broken != memo->broken))
		memo->broken = broken;
	finish(ret, result);
}

void kuw_walk_more(struct kuw_state *w, const struct kuw_map *map, u64 *frames,
		   u32 capacity, struct kuw_result *result)
{
	w->map = map;
	/* The budgets of time are for each piece. */
	w->regs.steps = KUW_MAX_EXPR_STEPS;
	w->faults = 0;
	finish(walk_full(w, frames, min_t(u32, capacity, KUNWIND_MAX_FRAMES), result),
	       result);
}

void kuw_walk_i386(const struct kuw_map *map, const struct kuw_port_regs *regs,
		   u64 *frames, u32 capacity, struct kuw_result *result)
{
	struct kuw_state w;

	kuw_walk_begin(&w, regs, KUW_I386_WORD);
	kuw_walk_more(&w, map, frames, capacity, result);
}

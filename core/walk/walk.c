// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk. Its state is {ip, sp, bp}: nearly all rules need no more, and the loop that
 * applies them keeps the three in machine registers. Rare cases (expressions, signal frames,
 * code without an FDE) go through kuw_step(), which can do everything. If a rule needs a
 * register that the loop has not followed, the walk starts again and follows all registers.
 */
#include "walk.h"
#include "budgets.h"
#include "loop.h"
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

/* Make the loop's frame that of @w. The loop has followed no other registers. */
static void take_over(struct kuw_state *w, const struct kuw_loop *loop)
{
	w->regs.r[KUW_RA] = loop->out[-1];
	w->regs.r[KUW_RSP] = loop->sp;
	w->regs.r[KUW_RBP] = loop->bp;
	w->regs.known = KUW_KNOWN_FAST;
	w->inner = loop->pc == loop->out[-1];
}

/* Continue where a frame needs kuw_step(). Return: the stop reason. */
static noinline u32 walk_mixed(struct kuw_loop *loop, const struct kuw_port_regs *regs,
			       u64 *frames, struct kuw_result *result)
{
	struct kuw_state w;
	u32 ret, steps = 0;
	u64 *before;

	/* 0: no guess yet. */
	result->proven = 0;
	kuw_state_start(&w, regs, KUW_WORD);
	fill_budgets(&w);
	w.map = loop->map;
	if (loop->out > frames + 1)
		take_over(&w, loop);
	for (;;) {
		kuw_restore_ra(&w);
		loop->out[-1] = w.regs.r[KUW_RA];
		w.faults += loop->faults;
		loop->faults = 0;
		ret = kuw_step(&w);
		if (w.regs.unknown && steps <= KUW_MAX_REDONE) {
			/* The rule needs a register that the loop did not follow: start
			 * again, with all registers. The budgets are not filled again. As each
			 * frame costs time twice, only half of the operators that are left may
			 * be used.
			 */
			kuw_state_start(&w, regs, KUW_WORD);
			w.regs.steps /= 2;
			ret = walk_full(&w, frames, loop->last - frames, result);
			loop->out = frames + result->count;
			return ret;
		}
		if (ret == KUW_STEPPED && loop->out == loop->last)
			ret = KUNWIND_STOP_CAPACITY;
		if (ret != KUW_STEPPED)
			break;
		steps++;
		if (w.guessed && !result->proven)
			result->proven = loop->out - frames;
		if (w.inner) {
			ret = note_interrupted(result, loop->out - frames);
			if (ret != KUW_STEPPED)
				break;
		}
		*loop->out++ = w.regs.r[KUW_RA];
		/* The loop needs rbp, which may be lost until a rule finds it again. */
		if (~w.regs.known & KUW_KNOWN_FAST)
			continue;
		loop->sp = w.regs.r[KUW_RSP];
		loop->bp = w.regs.r[KUW_RBP];
		loop->pc = w.regs.r[KUW_RA] - !w.inner;
		before = loop->out;
		ret = kuw_loop_run(loop);
		if (ret != KUW_STEPPED)
			break;
		/* Where the loop has applied no rule, other registers are known still. */
		if (loop->out > before)
			take_over(&w, loop);
	}
	if (!result->proven)
		result->proven = loop->out - frames;
	return ret;
}

/* Return: the epoch of a walk with the map of this number. */
static u32 epoch_of(struct kuw_rule_cache *cache, u64 number)
{
	struct kuw_cache_map *m = &cache->maps[number % KUW_CACHE_MAPS];

	if (m->number == number)
		return m->epoch;
	if (!++cache->epochs) {
		/* All numbers were used: forget every entry and map that had one of them. */
		memset(cache->entries, 0, KUW_CACHE_BYTES);
		memset(cache->maps, 0, sizeof(cache->maps));
		cache->epochs = 1;
	}
	*m = (struct kuw_cache_map){ number, cache->epochs };
	return m->epoch;
}

void kuw_walk(const struct kuw_map *map, struct kuw_rule_cache *cache,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result)
{
	kuw_port_uninitialized struct kuw_loop w;
	u32 ret;

	result->nr_interrupted = 0;
	if (!capacity) {
		result->count = 0;
		result->proven = 0;
		result->stop = KUNWIND_STOP_CAPACITY;
		return;
	}
	w.map = map;
	w.entries = cache->entries;
	w.epoch = epoch_of(cache, map->number);
	w.sp = kuw_port_sp(regs);
	w.bp = kuw_port_bp(regs);
	w.pc = kuw_port_ip(regs);
	w.out = frames;
	w.last = frames + min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	w.faults = 0;
	/* A mispredicted look_up() may use it, and it would be what was on the stack. */
	w.in = (struct kuw_cover){ .len = 0 };
	*w.out++ = w.pc;
	ret = kuw_loop_run(&w);
	/* Without a guess, all frames are proven. */
	result->proven = w.out - frames;
	if (ret == KUW_STEPPED)
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

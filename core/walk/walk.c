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

/* Set the stop reason, when the frames are written. */
static void finish(u32 stop, struct kuw_result *result)
{
	result->stop = stop;
	if (stop == KUNWIND_STOP_CAPACITY && result->count == KUNWIND_MAX_FRAMES)
		result->stop = KUNWIND_STOP_MAX_FRAMES;
}

/* Make the loop's frame that of @w, if the loop has written one since @before. */
static void take_over(struct kuw_state *w, struct kuw_loop *loop, const u64 *before)
{
	w->faults += loop->faults;
	loop->faults = 0;
	/* Otherwise, other registers are known still. The loop follows none. */
	if (loop->out == before)
		return;
	w->regs.r[KUW_RA] = loop->out[-1];
	w->regs.r[KUW_RSP] = loop->sp;
	w->regs.r[KUW_RBP] = loop->bp;
	w->regs.known = KUW_KNOWN_FAST;
	w->inner = false;
	w->syscall = false;
}

/*
 * Walk on from the current frame of @w, the next one to write. It is that after
 * KUNWIND_STOP_CAPACITY, too, so that the next piece starts there. @loop has written it already,
 * and follows what frames it can. Without @loop, the walk follows all registers: for the few stacks
 * that need them, for walks in pieces, and for i386.
 * Return: the stop reason; KUW_STEPPED if a rule needs a register that @loop has not followed.
 */
static u32 walk_on(struct kuw_state *w, struct kuw_loop *loop, u64 *frames, u32 limit,
		   struct kuw_result *result)
{
	u32 n = loop ? loop->out - frames - 1 : 0, steps, ret = KUW_STEPPED;

	result->proven = 0;
	result->nr_interrupted = 0;
	for (steps = 0; ret == KUW_STEPPED; steps++) {
		if (n == limit) {
			ret = KUNWIND_STOP_CAPACITY;
			break;
		}
		if (w->inner && w->moved) {
			if (result->nr_interrupted == KUW_MAX_INTERRUPTED) {
				ret = KUNWIND_STOP_SIGNAL_BUDGET;
				break;
			}
			result->interrupted[result->nr_interrupted++] = n;
		}
		frames[n++] = w->regs.r[KUW_RA];
		/* The loop needs rbp, which may be lost until a rule finds it again. */
		if (loop && w->moved && !(~w->regs.known & KUW_KNOWN_FAST)) {
			loop->sp = w->regs.r[KUW_RSP];
			loop->bp = w->regs.r[KUW_RBP];
			loop->pc = w->regs.r[KUW_RA] - !w->inner;
			loop->out = frames + n;
			ret = kuw_loop_run(loop);
			take_over(w, loop, frames + n);
			n = loop->out - frames;
		}
		if (!w->guessed)
			result->proven = n;
		if (ret != KUW_STEPPED)
			break;
		kuw_restore_ra(w);
		frames[n - 1] = w->regs.r[KUW_RA];
		ret = kuw_step(w);
		w->moved = true;
		w->syscall = false;
		if (loop && w->regs.unknown && steps <= KUW_MAX_REDONE) {
			ret = KUW_STEPPED;
			break;
		}
	}
	result->count = n;
	return ret;
}

/* Continue where a frame needs kuw_step(). Return: the stop reason. */
static noinline u32 walk_rest(struct kuw_loop *loop, const struct kuw_port_regs *regs,
			      u64 *frames, struct kuw_result *result)
{
	struct kuw_result first;
	struct kuw_state w;
	u32 ret;

	kuw_state_start(&w, regs, KUW_WORD);
	fill_budgets(&w);
	w.map = loop->map;
	take_over(&w, loop, frames + 1);
	ret = walk_on(&w, loop, frames, loop->last - frames, result);
	if (ret != KUW_STEPPED)
		return ret;
	first = *result;
	/*
	 * Start again, with all registers. The budgets are not filled again. As each frame costs
	 * time twice, only half of the operators that are left may be used.
	 */
	kuw_state_start(&w, regs, KUW_WORD);
	w.regs.steps /= 2;
	ret = walk_on(&w, NULL, frames, loop->last - frames, result);
	if (result->count >= first.count)
		return ret;
	/* A budget has ended it sooner. Behind its frames are still those of the first attempt. */
	*result = first;
	return KUNWIND_STOP_REG_UNKNOWN;
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
	const u64 ip = kuw_port_ip(regs);
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
	w.pc = ip - kuw_port_in_syscall(regs);
	w.out = frames;
	w.last = frames + min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	w.faults = 0;
	/* A mispredicted look_up() may use it, and it would be what was on the stack. */
	w.in = (struct kuw_cover){ .len = 0 };
	*w.out++ = ip;
	ret = kuw_loop_run(&w);
	result->count = w.out - frames;
	result->proven = result->count;
	if (ret == KUW_STEPPED)
		ret = walk_rest(&w, regs, frames, result);
	finish(ret, result);
}

void kuw_walk_more(struct kuw_state *w, const struct kuw_map *map, u64 *frames,
		   u32 capacity, struct kuw_result *result)
{
	w->map = map;
	fill_budgets(w);
	finish(walk_on(w, NULL, frames, min_t(u32, capacity, KUNWIND_MAX_FRAMES), result),
	       result);
}

void kuw_walk_i386(const struct kuw_map *map, const struct kuw_port_regs *regs,
		   u64 *frames, u32 capacity, struct kuw_result *result)
{
	struct kuw_state w;

	kuw_state_start(&w, regs, KUW_I386_WORD);
	kuw_walk_more(&w, map, frames, capacity, result);
}

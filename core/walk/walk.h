/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walk: from user registers, an address map and a stack to frames. */
#ifndef KUW_WALK_H
#define KUW_WALK_H

#include "budgets.h"
#include "apply.h"

struct kuw_rule_cache;

/* How a walk ended. */
struct kuw_result {
	u32 count;		/* frames written */
	/*
	 * How many of them follow from tables, or from what the kernel has done (a signal frame
	 * without CFI, a uretprobe). The frames after them rest on a guess.
	 */
	u32 proven;
	u32 stop;		/* enum kunwind_stop */
	u32 nr_interrupted;
	/*
	 * The indexes, ascending, of frames that a signal interrupted: their address is that of
	 * the next instruction, and not a return address. The innermost frame of a stack is
	 * always interrupted, and is not listed.
	 */
	u16 interrupted[KUW_MAX_INTERRUPTED];
};

/*
 * Walk from @regs, the user registers of the innermost frame, and write at most @capacity
 * addresses to @frames, innermost first. No other walk may use @cache meanwhile, which has
 * rules of earlier ones.
 * Context: any. The port's word reader must be usable; see kunwind_port.h.
 */
void kuw_walk(const struct kuw_map *map, struct kuw_rule_cache *cache,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result);

/*
 * The same for a program for i386, with 32 bits of each register and without a cache: as
 * kuw_state_start() and one kuw_walk_more().
 */
void kuw_walk_i386(const struct kuw_map *map, const struct kuw_port_regs *regs,
		   u64 *frames, u32 capacity, struct kuw_result *result);

/*
 * Walk the next piece of a stack. kuw_state_start() has started the walk, which the caller
 * owns. At most KUNWIND_MAX_FRAMES frames are written, and all numbers of @result are those of
 * this piece. Each piece may have another @map.
 *
 * If it ends with KUNWIND_STOP_CAPACITY or KUNWIND_STOP_MAX_FRAMES, there are more frames,
 * and another call writes them. Such a walk follows all registers, and so takes longer than
 * kuw_walk().
 *
 * Context: as kuw_walk(), with the same user registers and stack for all pieces.
 */
void kuw_walk_more(struct kuw_state *w, const struct kuw_map *map, u64 *frames,
		   u32 capacity, struct kuw_result *result);

#endif /* KUW_WALK_H */

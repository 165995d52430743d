/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walk: from user registers, an address map and a stack to frames. */
#ifndef KUW_WALK_H
#define KUW_WALK_H

#include "budgets.h"
#include "apply.h"

struct kuw_rule_cache;

/**
 * struct kuw_result - how a walk ended
 * @count: frames written
 * @proven: how many of them follow from tables, or from what the kernel has done (a signal frame
 *	without CFI, a uretprobe); the frames after them rest on a guess
 * @stop: enum kunwind_stop
 * @nr_interrupted: how many of @interrupted are filled in
 * @interrupted: the indexes, ascending, of frames that a signal interrupted: their address is
 *	that of the next instruction, and not a return address. The innermost frame of a
 *	stack is always interrupted, and is not listed
 */
struct kuw_result {
	u32 count;
	u32 proven;
	u32 stop;
	u32 nr_interrupted;
	u16 interrupted[KUW_MAX_INTERRUPTED];
};

/**
 * kuw_walk() - walk a user stack
 * @map: the address map of the address space
 * @cache: rules of earlier walks; no other walk may use it meanwhile
 * @regs: the user registers of the innermost frame
 * @frames: where to write addresses, innermost first
 * @capacity: how many addresses @frames has room for
 * @result: how it ended
 *
 * Context: any. The port's word reader must be usable; see kunwind_port.h.
 */
void kuw_walk(const struct kuw_map *map, struct kuw_rule_cache *cache,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result);

/**
 * kuw_walk_i386() - walk the user stack of a program for i386
 * @map: the address map of the address space
 * @regs: the user registers of the innermost frame, of which 32 bits count
 * @frames: where to write addresses, innermost first
 * @capacity: how many addresses @frames has room for
 * @result: how it ended
 *
 * The same as kuw_state_start() and one kuw_walk_more(). It needs no cache.
 * Context: as kuw_walk().
 */
void kuw_walk_i386(const struct kuw_map *map, const struct kuw_port_regs *regs,
		   u64 *frames, u32 capacity, struct kuw_result *result);

/**
 * kuw_walk_more() - walk the next piece of a user stack
 * @w: a walk that kuw_state_start() started
 * @map: the address map of the address space, which may be another one for each piece
 * @frames: where to write addresses, innermost first
 * @capacity: how many addresses @frames has room for; at most KUNWIND_MAX_FRAMES are written
 * @result: how it ended; all numbers are those of this piece
 *
 * If it ends with KUNWIND_STOP_CAPACITY or KUNWIND_STOP_MAX_FRAMES, there are more frames,
 * and another call writes them. Such a walk follows all registers, and so takes longer than
 * kuw_walk(), which writes at most KUNWIND_MAX_FRAMES frames.
 *
 * Context: as kuw_walk(), with the same user registers and stack for all pieces.
 */
void kuw_walk_more(struct kuw_state *w, const struct kuw_map *map, u64 *frames,
		   u32 capacity, struct kuw_result *result);

#endif /* KUW_WALK_H */

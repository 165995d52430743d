/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walk: from user registers, an address map and a stack to frames. */
#ifndef KUW_WALK_H
#define KUW_WALK_H

#include "kunwind_port.h"

struct kuw_memo;
struct kuw_map;

/**
 * struct kuw_result - how a walk ended
 * @count: frames written
 * @proven: how many of them follow from tables alone; those behind rest on a
 *	step by frame pointer
 * @stop: enum kunwind_stop
 */
struct kuw_result {
	u32 count;
	u32 proven;
	u32 stop;
};

/**
 * kuw_walk() - walk a user stack
 * @map: the address map of the address space
 * @memo: what earlier walks found; used by no other walk meanwhile
 * @regs: the user registers of the innermost frame
 * @frames: where to write addresses, innermost first
 * @capacity: how many there is room for
 * @result: how it ended
 *
 * Context: any. The port's word reader must be usable; see kunwind_port.h.
 */
void kuw_walk(const struct kuw_map *map, struct kuw_memo *memo,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result);

/**
 * kuw_walk_i386() - walk the user stack of a program for i386
 * @map: the address map of the address space
 * @regs: the user registers of the innermost frame, of which 32 bits count
 * @frames: where to write addresses, innermost first
 * @capacity: how many there is room for
 * @result: how it ended
 *
 * It follows all registers from the beginning, and needs no memo.
 * Context: as kuw_walk().
 */
void kuw_walk_i386(const struct kuw_map *map, const struct kuw_port_regs *regs,
		   u64 *frames, u32 capacity, struct kuw_result *result);

#endif /* KUW_WALK_H */

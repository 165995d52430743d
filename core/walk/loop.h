/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The loop of a walk, for frames whose rules are plain: the caller's state follows from {ip, sp,
 * bp} alone. It remembers rules in a cache, and calls no function while user memory is open.
 */
#ifndef KUW_LOOP_H
#define KUW_LOOP_H

#include "map.h"
#include "rule_cache.h"
#include "table.h"

/*
 * The mapping that the loop is in: the @len addresses from @lo on that its table @look covers,
 * and @off, the table's offset of @lo. The last address of a mapping is left out:
 * the return address after it is in the next mapping, which may be the trampoline of uretprobes.
 */
struct kuw_cover {
	u64 lo;
	u64 len;
	u32 off;
	struct kuw_look look;
};

/* The state of the loop, on the stack of kuw_walk(). */
struct kuw_loop {
	const struct kuw_map *map;
	struct kuw_cache_entry *entries;
	u32 epoch;		/* of @map */
	u64 sp;			/* of the current frame, whose ip is the last one written */
	u64 bp;
	u64 pc;			/* where its rule is: its ip; one less behind a call or syscall */
	u64 *out;		/* where to write the next frame */
	u64 *last;		/* the end of the room for frames */
	u32 faults;		/* failed reads that its caller has not counted yet */
	struct kuw_cover in;	/* the table that the last look-up was in */
};

/*
 * Follow frames as long as their rules are plain. Return: KUW_STEPPED if a frame needs
 * kuw_step(), or the stop reason.
 */
u32 kuw_loop_run(struct kuw_loop *w);

#endif /* KUW_LOOP_H */

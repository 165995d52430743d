// SPDX-License-Identifier: MIT
/*
 * The same functions with other frames: VARIANT decides how large they are and what
 * they save. A stack that was walked by another variant's table goes wrong.
 *
 * The code is called where nobody relocated it, too: it uses its arguments alone.
 */
#include "live.h"

#define ROOM	(48 + VARIANT * 80)

void variant_call(const struct live_calls *calls, struct live_stacks *stacks);

static NOINLINE void inner(const struct live_calls *calls,
			   struct live_stacks *stacks)
{
	volatile char room[ROOM];

	room[0] = room[ROOM - 1] = 1;
	calls->push(__builtin_return_address(0));
#if VARIANT & 1
	/* One more register is saved. */
	__asm__ volatile("" ::: "r15");
#endif
	calls->take(stacks);
	calls->pop();
}

NOINLINE void variant_call(const struct live_calls *calls,
			   struct live_stacks *stacks)
{
	volatile char room[ROOM];

	room[0] = room[ROOM - 1] = 1;
	calls->push(__builtin_return_address(0));
#if VARIANT & 2
	__asm__ volatile("" ::: "rbx", "r12");
#endif
	inner(calls, stacks);
	calls->pop();
}

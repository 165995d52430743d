// SPDX-License-Identifier: MIT
/* A library that is loaded long after the device was opened. */
#include "late_library.h"

static NOINLINE void inner(const struct live_calls *calls,
			   struct live_stacks *stacks)
{
	calls->push(__builtin_return_address(0));
	calls->take(stacks);
	calls->pop();
}

NOINLINE void plugin_call(const struct live_calls *calls,
			  struct live_stacks *stacks)
{
	calls->push(__builtin_return_address(0));
	inner(calls, stacks);
	calls->pop();
}

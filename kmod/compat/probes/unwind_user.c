// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.17: the kernel can walk a user stack when a task returns to user mode. */
#include <linux/types.h>
#include <linux/bits.h>
#include <linux/unwind_user.h>

static __maybe_unused int probe(struct unwind_stacktrace *trace)
{
	trace->nr = 0;
	return unwind_user(trace, 1);
}

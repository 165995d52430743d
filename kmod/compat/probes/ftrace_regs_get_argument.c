// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.2: ftrace has functions for the registers that a callback is given. */
#include <linux/ftrace.h>

static __maybe_unused unsigned long probe(struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, 0);
	return ftrace_regs_get_argument(fregs, 0);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.16: the functions for 64 bits of an MSR have a new name. */
#include <asm/msr.h>

static __maybe_unused int probe(u64 *value)
{
	return rdmsrq_safe(0, value);
}

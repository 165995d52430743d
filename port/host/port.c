// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The window of readable memory; see kunwind_port.h. */
#include "kunwind_port.h"

__thread struct kuw_port_window kuw_port_window;
__thread int (*kuw_port_elsewhere)(u64 addr, u64 *word);

#ifdef KUW_PORT_INJECT
__thread u64 kuw_port_reads;
__thread u64 kuw_port_fail_nth;

bool kuw_port_inject(u64 addr)
{
	if (addr & 7)
		__builtin_trap();
	return ++kuw_port_reads == kuw_port_fail_nth;
}
#endif

__thread u64 kuw_port_stack_first;
__thread u64 kuw_port_uretprobe_slot;
__thread u64 kuw_port_uretprobe_ra;
__thread u64 kuw_port_fs_base;

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The return addresses that uretprobes replaced; see kunwind_port.h. */
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include "kunwind_port.h"

/* The kernel nests at most 64 uretprobes: MAX_URETPROBE_DEPTH. */
#define MAX_DEPTH	64

bool kw_uretprobe(u64 slot, u64 *ra)
{
	const struct uprobe_task *utask = READ_ONCE(current->utask);
	const struct return_instance *next;
	struct return_instance ri;
	int depth;

	if (!utask)
		return false;
	next = READ_ONCE(utask->return_instances);
	for (depth = 0; next && depth < MAX_DEPTH; depth++) {
		if (copy_from_kernel_nofault(&ri, next, sizeof(ri)))
			return false;
		if (ri.stack == slot) {
			*ra = ri.orig_ret_vaddr;
			return true;
		}
		next = ri.next;
	}
	return false;
}

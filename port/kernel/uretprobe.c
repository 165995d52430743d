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
	const struct task_struct *task = kw_walked_task();
	const struct uprobe_task *utask = READ_ONCE(task->utask);
	const struct return_instance *next;
	struct return_instance ri;
	int depth;

	/* Another task may be exiting, and free it. */
	if (!utask || copy_from_kernel_nofault(&next, &utask->return_instances, sizeof(next)))
		return false;
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

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Work that a task does on its own account before it returns to user mode. */
#ifndef KW_PENDING_H
#define KW_PENDING_H

#include <linux/types.h>

struct kw_space;
struct task_struct;

void kw_pending_queue(struct task_struct *task, struct kw_space *space, s64 event,
		      bool may_hang);
void kw_pending_retry(struct kw_space *space);
void kw_pending_drain(void);

#endif /* KW_PENDING_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Work that a task does, and pays for, before it returns to user mode. */
#ifndef KW_WORK_H
#define KW_WORK_H

#include <linux/types.h>

struct kw_space;
struct pt_regs;
struct task_struct;

void kw_work_queue(struct task_struct *task, struct kw_space *space, u64 start,
		   u64 end);
void kw_work_retry(struct kw_space *space, const struct pt_regs *regs);
void kw_work_exit(void);
void kw_work_drain(void);

#endif /* KW_WORK_H */

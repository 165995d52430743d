/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether the caller may see the stack of another process. */
#ifndef KW_PERMISSION_H
#define KW_PERMISSION_H

struct mm_struct;
struct task_struct;

int kw_may_see(struct task_struct *task, const struct mm_struct *mm);
void kw_permission_init(void);

#endif /* KW_PERMISSION_H */

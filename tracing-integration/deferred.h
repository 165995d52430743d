/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* User stacks that a task takes before it returns to user mode. */
#ifndef KT_DEFERRED_H
#define KT_DEFERRED_H

int deferred_init(void);
int deferred_begin(void);
void deferred_end(void);

#endif /* KT_DEFERRED_H */

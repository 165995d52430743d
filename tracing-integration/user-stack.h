/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The user stacks of ftrace. */
#ifndef KT_USER_STACK_H
#define KT_USER_STACK_H

int user_stack_init(void);
void user_stack_exit(void);

#endif /* KT_USER_STACK_H */

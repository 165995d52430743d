/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The walk of user stacks for ftrace. It also records the event kunwind:user_stack, if that is
 * enabled. Stacks are the kernel's own until coverage is there.
 */
#ifndef KT_USER_WALK_H
#define KT_USER_WALK_H

/* Before all others. Return: a negative errno if this kernel's walk cannot be replaced. */
int user_walk_init(void);

/*
 * Replace the kernel's walk; put it back, and wait until no walk is running. Context: may
 * sleep; callers serialize.
 */
int user_walk_begin(void);
void user_walk_end(void);

#endif /* KT_USER_WALK_H */

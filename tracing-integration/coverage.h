/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Coverage of all processes, for the event kunwind:user_stack.
 *
 * The kernel enables an event under a lock that loading a module needs, too. Covering all
 * processes can take ten seconds. So a worker does it, and the task that enables the event waits
 * for a second at most.
 *
 * There is one consumer at most. The worker alone attaches and detaches it; walks only ask
 * whether it is there, with preemption off. The worker waits for them before it detaches.
 */
#ifndef KT_COVERAGE_H
#define KT_COVERAGE_H

#include <linux/types.h>

/**
 * coverage_begin() - have all processes covered, soon
 *
 * Wait a second at most until they are. Each call that succeeds needs one of coverage_end()
 * before the next. Context: may sleep; callers serialize.
 *
 * Return: 0, also if it takes longer; a negative errno if attaching failed.
 */
int coverage_begin(void);

/* Have no process covered, soon. Context: as coverage_begin(). */
void coverage_end(void);

/* Wait until what was asked for last is done. */
void coverage_settle(void);

/* Whether all processes are covered. Context: preemption off, until the caller has walked. */
bool coverage_is_there(void);

#endif /* KT_COVERAGE_H */

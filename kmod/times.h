/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Every time that the module waits, or lets pass, and every number of attempts. */
#ifndef KW_TIMES_H
#define KW_TIMES_H

#include <linux/jiffies.h>

/*
 * How long hooks stay after the last consumer: registering them patches the kernel's
 * text, and any user can open and close the device. In seconds; hooks_stay_s sets it.
 */
#define KW_HOOKS_STAY_S		300
/*
 * How long an attaching tracer compiles tables for processes that run already. What is
 * missing then, each process makes itself. In ms; attach_work_ms sets it.
 */
#define KW_ATTACH_WORK_MS	10000
/*
 * When something is missing, a walk has it tried again: the first time after this long,
 * then after twice as long, and so on to the longest.
 */
#define KW_RETRY_FIRST		HZ
#define KW_RETRY_LONGEST	(64 * HZ)
/* How long a state dump waits, in all, for tasks that are publishing a snapshot. */
#define KW_DUMP_PATIENCE	(2 * HZ)
/* How long the last consumer waits for tasks that are about to catch up. */
#define KW_DRAIN		(HZ / 2)
/*
 * How often one task takes a snapshot until no other thread has mapped something
 * meanwhile. Each other thread can spoil one attempt before it has to catch up itself.
 */
#define KW_TAKE_ROUNDS		64
/* How often a file is compiled that changes under the compiler. */
#define KW_COMPILE_TRIES	4
/* Rounds of a state dump: each but the first has only what was forked during the last. */
#define KW_DUMP_ROUNDS		16

#endif /* KW_TIMES_H */

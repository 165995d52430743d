/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* All times and all numbers of attempts of the module. */
#ifndef KW_TIMES_H
#define KW_TIMES_H

#include <linux/jiffies.h>

/*
 * How long hooks stay after the last consumer. They do not go at once, as registering
 * them patches the kernel's text, and any user can open and close the device. In seconds;
 * hooks_stay_s sets it.
 */
#define KW_HOOKS_STAY_S		300
/*
 * How long an attaching tracer compiles tables for processes that run already. Each
 * process makes the missing ones itself. In ms; attach_work_ms sets it.
 */
#define KW_ATTACH_WORK_MS	10000
/*
 * How much longer it takes snapshots for which it compiles no table. Their memory is charged to
 * the processes, whose cgroups decide how long an allocation takes.
 */
#define KW_ATTACH_GRACE		(2 * HZ)
/* How long after its pass an attaching tracer looks again where mmap_lock was taken. */
#define KW_BUSY_PATIENCE	(HZ / 4)
/*
 * When something is missing, a walk makes its task try again. The first attempt follows
 * after KW_RETRY_FIRST; at once if an attaching tracer has left it to the task. The delay doubles
 * each time, up to KW_RETRY_LONGEST.
 */
#define KW_RETRY_FIRST		HZ
#define KW_RETRY_LONGEST	(64 * HZ)
/* How long a state dump waits, in all, for tasks that are publishing a snapshot. */
#define KW_DUMP_PATIENCE	(2 * HZ)
/*
 * How long the last consumer, if it was one of all processes, waits for tasks that are
 * about to catch up.
 */
#define KW_DRAIN		(HZ / 2)
/*
 * How often one task takes a snapshot before it gives up, because other threads keep
 * mapping. Each of them can spoil one attempt before it has to catch up itself.
 */
#define KW_TAKE_ROUNDS		64
/* How often a walk reads where the last events were, while more of them come. */
#define KW_LOG_TRIES		3
/* How often to try to walk a thread that keeps moving from CPU to CPU. */
#define KW_THREAD_TRIES		1000
/* How often to compile a file that changes meanwhile. */
#define KW_COMPILE_TRIES	4
/* Rounds of a state dump. Each after the first has only children forked meanwhile. */
#define KW_DUMP_ROUNDS		16

#endif /* KW_TIMES_H */

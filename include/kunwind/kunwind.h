/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The API of kunwind.ko for other kernel modules. */
#ifndef KUNWIND_KUNWIND_H
#define KUNWIND_KUNWIND_H

#include <linux/types.h>

struct kunwind_consumer;

/**
 * struct kunwind_result - how a walk ended
 * @count: frames written
 * @proven: how many of them follow from unwind tables alone; those behind rest
 *	on a step by frame pointer
 * @stop: enum kunwind_stop of <uapi/linux/kunwind.h>; 0 if the stack is complete
 */
struct kunwind_result {
	u32 count;
	u32 proven;
	u32 stop;
};

/**
 * kunwind_attach() - begin to consume stacks of the whole system
 *
 * When it returns, every process that is running is covered, and what is mapped
 * from now on is covered before it can run.
 *
 * Context: process context, may sleep, takes up to seconds the first time.
 *	The caller answers for the privilege: it covers all processes.
 * Return: the consumer, or ERR_PTR(): -ENOMEM; -EINTR after a fatal signal;
 *	-EOPNOTSUPP if the kernel lacks a function that must be hooked.
 */
struct kunwind_consumer *kunwind_attach(void);

/**
 * kunwind_detach() - end what kunwind_attach() began
 * @consumer: what kunwind_attach() returned
 *
 * With the last consumer all hooks and tables go.
 *
 * Context: process context, may sleep.
 */
void kunwind_detach(struct kunwind_consumer *consumer);

/**
 * kunwind_current() - the user call stack of the current task
 * @frames: where to write addresses, innermost first
 * @capacity: how many @frames has room for; more than KUNWIND_MAX_FRAMES are
 *	never written
 * @result: how it ended
 *
 * Takes no lock, allocates nothing, faults nothing and is bounded in time.
 *
 * Context: any, NMI included, while the caller holds a consumer.
 */
void kunwind_current(u64 *frames, u32 capacity, struct kunwind_result *result);

/**
 * kunwind_stop_name() - the name of a stop reason
 * @stop: enum kunwind_stop
 *
 * Context: any.
 * Return: a constant string such as "COMPLETE"; "?" for an unknown number.
 */
const char *kunwind_stop_name(u32 stop);

#endif /* KUNWIND_KUNWIND_H */

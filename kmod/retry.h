/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What was left out of a snapshot for want of memory, and when to try again. */
#ifndef KW_RETRY_H
#define KW_RETRY_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/types.h>

/*
 * Part of a space. Written by whoever fails or succeeds, without a lock: they only
 * say when, and a wrong moment costs an attempt.
 */
struct kw_retry {
	/* From when on, in jiffies; 0 if nothing is missing. */
	unsigned long at;
	/* How long it was put off the last time. */
	unsigned long delay;
	/* Whether @work is queued; see pending.c. */
	atomic_t queued;
	struct callback_head work;
};

/* Context: any, NMI included. */
static inline bool kw_retry_is_due(const struct kw_retry *retry)
{
	unsigned long at = READ_ONCE(retry->at);

	return unlikely(at) && time_after_eq(jiffies, at);
}

void kw_retry_failed(struct kw_retry *retry);
void kw_retry_succeeded(struct kw_retry *retry);

#endif /* KW_RETRY_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Want of memory passes. Until then a process has stacks that end early, and may not
 * map anything for hours, so that no hook has another attempt made.
 *
 * So a walk does, by a task that is about to return to user mode (pending.c), and so
 * does the device's ioctl: where nobody asks for stacks, nothing is tried. The
 * process itself pays, in time and memory. Each failure doubles the time until the
 * next attempt, so that a process that is refused for good spends little on it.
 */
#include <linux/minmax.h>
#include "retry.h"

#define FIRST_DELAY	HZ
#define LAST_DELAY	(64 * HZ)

/* Something was left out. What fails meanwhile changes nothing. */
void kw_retry_failed(struct kw_retry *retry)
{
	unsigned long now = jiffies, at = READ_ONCE(retry->at), delay;

	if (at && time_before(now, at))
		return;
	delay = clamp_t(unsigned long, 2 * READ_ONCE(retry->delay), FIRST_DELAY,
			LAST_DELAY);
	WRITE_ONCE(retry->delay, delay);
	WRITE_ONCE(retry->at, (now + delay) ?: 1);
}

/* Nothing is missing. */
void kw_retry_succeeded(struct kw_retry *retry)
{
	WRITE_ONCE(retry->at, 0);
	WRITE_ONCE(retry->delay, 0);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.13: a timer gets its function when it is initialized. */
#include <linux/hrtimer.h>

static __maybe_unused void probe(struct hrtimer *timer)
{
	hrtimer_setup(timer, NULL, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

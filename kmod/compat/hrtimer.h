/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Timers; for tests/module. */
#ifndef KW_COMPAT_HRTIMER_H
#define KW_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>
#include "found.h"

/* Before 6.13, a timer's function is set after its initialization. */
#ifndef KW_HAVE_hrtimer_setup
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* KW_COMPAT_HRTIMER_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* sched_switch in a picture over time: when threads do not run, and what runs on a CPU. */
#ifndef KR_SWITCHES_H
#define KR_SWITCHES_H

#include "track.h"

/* A CPU goes from one thread to another one. */
void kr_switch(struct kr_tracks *tracks, const struct kr_event *event, int64_t cpu);

#endif /* KR_SWITCHES_H */

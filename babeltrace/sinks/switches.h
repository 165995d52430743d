/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* sched_switch in a picture over time: when threads do not run, and what runs on a CPU. */
#ifndef KR_SWITCHES_H
#define KR_SWITCHES_H

#include "track.h"

/**
 * struct kr_switches - the last sched_switch
 * @time: when it was
 * @to: to which thread
 * @cpu: on which CPU
 * @trace: of which trace
 */
struct kr_switches {
	int64_t time;
	int64_t to;
	int64_t cpu;
	const bt_trace *trace;
};

/* A CPU goes from one thread to another one. */
void kr_switch(struct kr_switches *last, struct kr_tracks *tracks,
	       const struct kr_event *event, int64_t cpu);

#endif /* KR_SWITCHES_H */

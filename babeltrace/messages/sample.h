/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* An event of a profile: cpu_sample. */
#ifndef KR_SAMPLE_H
#define KR_SAMPLE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct kr_sample - what a CPU was doing
 * @period: for how long it stands, in nanoseconds
 * @ip: the instruction that was interrupted
 * @user: whether that is the program's, not the kernel's
 * @kernel: the addresses of the kernel's stack, of the event; NULL if the trace has none
 */
struct kr_sample {
	uint64_t period;
	uint64_t ip;
	bool user;
	const bt_field *kernel;
};

/* Return: whether an event is one. */
bool kr_sample_of_event(const bt_event *event, struct kr_sample *sample);

#endif /* KR_SAMPLE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The event of a profile: what a CPU was doing. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cpu

#if !defined(SAMPLE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define SAMPLE_EVENTS_H

#include <lttng/tracepoint-event.h>
#include <linux/tracepoint.h>

/*
 * @period: for how long it stands, in nanoseconds
 * @ip: the instruction that was interrupted
 * @user: whether that is the program's, not the kernel's
 * @kernel: the kernel's stack from @ip on, if that is the kernel's
 * @count: its frames
 */
LTTNG_TRACEPOINT_EVENT(cpu_sample,
	TP_PROTO(u32 period, u64 ip, u8 user, const unsigned long *kernel, u32 count),
	TP_ARGS(period, ip, user, kernel, count),
	TP_FIELDS(
		ctf_integer(u32, period, period)
		ctf_integer_hex(u64, ip, ip)
		ctf_integer(u8, user, user)
		ctf_sequence_hex(unsigned long, callstack_kernel, kernel, u32, count)
	)
)

#endif /* SAMPLE_EVENTS_H */

#include <lttng/define_trace.h>

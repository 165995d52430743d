/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The tracepoints of <kunwind/trace.h> as LTTng records them. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kunwind

#if !defined(MAP_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define MAP_EVENTS_H

#include <lttng/tracepoint-event.h>
#include <kunwind/kunwind.h>
#include "mapping-fields.h"

LTTNG_TRACEPOINT_EVENT(kunwind_map,
	TP_PROTO(const struct kunwind_mapping *m),
	TP_ARGS(m),
	TP_FIELDS(MAPPING_FIELDS(m))
)

LTTNG_TRACEPOINT_EVENT(kunwind_unmap,
	TP_PROTO(u64 space, u64 start, u64 end),
	TP_ARGS(space, start, end),
	TP_FIELDS(
		ctf_integer(u64, space, space)
		ctf_integer_hex(u64, start, start)
		ctf_integer_hex(u64, end, end)
	)
)

LTTNG_TRACEPOINT_EVENT(kunwind_fork,
	TP_PROTO(u64 parent_space, u64 child_space, pid_t parent_pid,
		 pid_t child_pid),
	TP_ARGS(parent_space, child_space, parent_pid, child_pid),
	TP_FIELDS(
		ctf_integer(u64, parent_space, parent_space)
		ctf_integer(u64, child_space, child_space)
		ctf_integer(pid_t, parent_pid, parent_pid)
		ctf_integer(pid_t, child_pid, child_pid)
	)
)

LTTNG_TRACEPOINT_EVENT(kunwind_exit,
	TP_PROTO(u64 space),
	TP_ARGS(space),
	TP_FIELDS(
		ctf_integer(u64, space, space)
	)
)

#endif /* MAP_EVENTS_H */

#include <lttng/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The events of the state dump of a session: all mappings that walks know of. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kunwind_statedump

#if !defined(STATEDUMP_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define STATEDUMP_EVENTS_H

#include <lttng/tracepoint-event.h>
#include <linux/tracepoint.h>
#include <kunwind/kunwind.h>
#include "mapping-fields.h"

LTTNG_TRACEPOINT_EVENT(kunwind_statedump_begin,
	TP_PROTO(struct lttng_kernel_session *session),
	TP_ARGS(session),
	TP_FIELDS()
)

LTTNG_TRACEPOINT_EVENT(kunwind_statedump_map,
	TP_PROTO(struct lttng_kernel_session *session,
		 const struct kunwind_mapping *m),
	TP_ARGS(session, m),
	TP_FIELDS(MAPPING_FIELDS(m))
)

LTTNG_TRACEPOINT_EVENT(kunwind_statedump_end,
	TP_PROTO(struct lttng_kernel_session *session, int error),
	TP_ARGS(session, error),
	TP_FIELDS(
		ctf_integer(int, error, error)
	)
)

#endif /* STATEDUMP_EVENTS_H */

#include <lttng/define_trace.h>

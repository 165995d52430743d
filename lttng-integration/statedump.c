// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind's part of the state dump, before LTTng's own. */
#include <linux/module.h>
#include <lttng/events.h>
#include <lttng/events-internal.h>
#include <lttng/tracer.h>
#include <kunwind/kunwind.h>
#include <wrapper/tracepoint.h>
#include "statedump.h"

/* Declares the tracepoints; their probes are in statedump-probes.c. */
#define CREATE_TRACE_POINTS
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE statedump-events
#define LTTNG_INSTRUMENTATION
#include "statedump-events.h"

LTTNG_DEFINE_TRACE(kunwind_statedump_begin,
	TP_PROTO(struct lttng_kernel_session *session),
	TP_ARGS(session));

LTTNG_DEFINE_TRACE(kunwind_statedump_map,
	TP_PROTO(struct lttng_kernel_session *session,
		 const struct kunwind_mapping *m),
	TP_ARGS(session, m));

LTTNG_DEFINE_TRACE(kunwind_statedump_end,
	TP_PROTO(struct lttng_kernel_session *session, int error),
	TP_ARGS(session, error));

static void tell(const struct kunwind_mapping *m, void *session)
{
	trace_kunwind_statedump_map(session, m);
}

/**
 * statedump_start() - replaces lttng_statedump_start()
 * @session: a session that has just become active, or asks for a dump
 *
 * An error in kunwind's part does not make the session fail: kunwind_statedump_end reports it.
 *
 * Context: an ioctl of the session daemon, under LTTng's lock; sleeps. Takes over the
 *	redirect's reference to this module.
 * Return: what LTTng's own returns.
 */
int statedump_start(struct lttng_kernel_session *session)
{
	int ret;

	trace_kunwind_statedump_begin(session);
	ret = trace_kunwind_statedump_map_enabled() ?
	      kunwind_for_each_mapping(tell, session) : 0;
	trace_kunwind_statedump_end(session, ret);
	ret = lttng_statedump_start(session);
	/* Do not sleep from here on: see main.c. */
	module_put(THIS_MODULE);
	return ret;
}

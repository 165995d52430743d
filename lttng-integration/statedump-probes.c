// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * LTTng's probes of the state dump. Their first argument is a session. With TP_SESSION_CHECK,
 * only that session records the event.
 */
#include <linux/module.h>
#include <lttng/events.h>
#include <lttng/tracer.h>
#include "probes.h"

#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#define TP_MODULE_NOINIT
#define TP_SESSION_CHECK
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE statedump-events
#include "statedump-events.h"

int statedump_probes_register(void)
{
	return lttng_kernel_probe_register(&__probe_desc___kunwind_statedump);
}

void statedump_probes_unregister(void)
{
	lttng_kernel_probe_unregister(&__probe_desc___kunwind_statedump);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * LTTng's probes of the tracepoints of kunwind.ko, made by the same macros as LTTng's own
 * probes (src/probes/).
 */
#include <linux/module.h>
#include <lttng/tracer.h>
/* So that the compiler checks the prototypes. */
#include <kunwind/trace.h>
#include "probes.h"

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#define TP_MODULE_NOINIT
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE map-events
#include "map-events.h"

int map_probes_register(void)
{
	return lttng_kernel_probe_register(&__probe_desc___kunwind);
}

void map_probes_unregister(void)
{
	lttng_kernel_probe_unregister(&__probe_desc___kunwind);
}

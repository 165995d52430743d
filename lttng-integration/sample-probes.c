// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* LTTng's probe of cpu_sample. */
#include <linux/module.h>
#include <lttng/tracer.h>
#include "probes.h"

#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#define TP_MODULE_NOINIT
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE sample-events
#include "sample-events.h"

int sample_probes_register(void)
{
	return lttng_kernel_probe_register(&__probe_desc___cpu);
}

void sample_probes_unregister(void)
{
	lttng_kernel_probe_unregister(&__probe_desc___cpu);
}

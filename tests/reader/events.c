// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Names of events: LTTng's, and perf's with the group before them. */
#include <glib.h>
#include <lttng/lttng.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "names.h"
#include "tap.h"

static char said[256];

void kc_error(const char *next, const char *format, ...)
{
	va_list args;

	(void)next;
	va_start(args, format);
	g_vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

static struct lttng_event tracepoints[] = {
	{ .name = "sched_switch" }, { .name = "sched_wakeup" }, { .name = "kmem_kmalloc" },
	{ .name = "irq_softirq_entry" }, { .name = "block_rq_issue" }, { .name = "open_tree" },
};

static struct lttng_event calls[] = {
	{ .name = "openat" }, { .name = "read" }, { .name = "sched_yield" },
};

static const struct kc_names names = {
	.tracepoints = tracepoints, .nr_tracepoints = G_N_ELEMENTS(tracepoints),
	.calls = calls, .nr_calls = G_N_ELEMENTS(calls),
};

static void check(const char *asked, enum lttng_event_type type, const char *ours)
{
	g_autofree char *name = NULL;
	enum lttng_event_type got;

	said[0] = '\0';
	got = kc_names_find(&names, asked, &name);
	tap_ok(got == type && !g_strcmp0(name, ours) && !said[0] == !!ours, "%s is %s", asked,
	       ours ?: "no event");
	if (got != type || g_strcmp0(name, ours))
		tap_diag("type %d, name %s, said: %s", (int)got, name ?: "none", said);
}

int main(void)
{
	check("sched_switch", LTTNG_EVENT_TRACEPOINT, "sched_switch");
	check("sched_*", LTTNG_EVENT_TRACEPOINT, "sched_*");
	check("read", LTTNG_EVENT_SYSCALL, "read");
	check("*", LTTNG_EVENT_SYSCALL, "*");
	check("sched:sched_switch", LTTNG_EVENT_TRACEPOINT, "sched_switch");
	check("kmem:kmalloc", LTTNG_EVENT_TRACEPOINT, "kmem_kmalloc");
	check("irq:softirq_entry", LTTNG_EVENT_TRACEPOINT, "irq_softirq_entry");
	check("syscalls:sys_enter_openat", LTTNG_EVENT_SYSCALL, "openat");
	check("raw_syscalls:sys_enter", LTTNG_EVENT_SYSCALL, "*");
	/* A pattern is one of the group, not of all events. */
	check("sched:*", LTTNG_EVENT_TRACEPOINT, "sched_*");
	check("sched:sched_*", LTTNG_EVENT_TRACEPOINT, "sched_*");
	check("kmem:*", LTTNG_EVENT_TRACEPOINT, "kmem_*");
	check("kmem:k*", LTTNG_EVENT_TRACEPOINT, "kmem_k*");
	check("block:block_rq*", LTTNG_EVENT_TRACEPOINT, "block_rq*");
	check("syscalls:*", LTTNG_EVENT_SYSCALL, "*");
	check("syscalls:sys_enter_*", LTTNG_EVENT_SYSCALL, "*");
	check("syscalls:sys_enter_open*", LTTNG_EVENT_SYSCALL, "open*");
	check("raw_syscalls:*", LTTNG_EVENT_SYSCALL, "*");
	check("bogus:*", LTTNG_EVENT_ALL, NULL);
	check("bogus:s*", LTTNG_EVENT_ALL, NULL);
	check("bogus:read", LTTNG_EVENT_ALL, NULL);
	check("syscalls:bogus*", LTTNG_EVENT_ALL, NULL);
	check(":*", LTTNG_EVENT_ALL, NULL);
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Names of events: LTTng's, and those that perf and others have for them. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "names.h"

/* perf's own events, which are no tracepoints there. */
static const struct {
	const char *theirs;
	const char *ours;
} others[] = {
	{ "page-faults", "x86_exceptions_page_fault_user" },
	{ "faults", "x86_exceptions_page_fault_user" },
	{ "exceptions:page_fault_user", "x86_exceptions_page_fault_user" },
	{ "exceptions:page_fault_kernel", "x86_exceptions_page_fault_kernel" },
	{ "context-switches", "sched_switch" },
	{ "cs", "sched_switch" },
	{ "cpu-migrations", "sched_migrate_task" },
	{ "migrations", "sched_migrate_task" },
	{ "raw_syscalls:sys_enter", "*" },
	{ "raw_syscalls:sys_exit", "*" },
};

bool kc_names_load(struct kc_names *names, struct lttng_handle *handle)
{
	names->nr_tracepoints = lttng_list_tracepoints(handle, &names->tracepoints);
	names->nr_calls = lttng_list_syscalls(&names->calls);
	if (names->nr_tracepoints >= 0 && names->nr_calls >= 0)
		return true;
	kc_error(NULL, "LTTng: the list of events: %s",
		 lttng_strerror(MIN(names->nr_tracepoints, names->nr_calls)));
	kc_names_free(names);
	return false;
}

void kc_names_free(struct kc_names *names)
{
	if (names->nr_tracepoints > 0)
		free(names->tracepoints);
	if (names->nr_calls > 0)
		free(names->calls);
	*names = (struct kc_names) { 0 };
}

static bool is_in(const struct lttng_event *events, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++)
		if (g_pattern_match_simple(name, events[i].name))
			return true;
	return false;
}

static enum lttng_event_type type_of(const struct kc_names *names, const char *name)
{
	/* '*' alone is all system calls, as it is without a name. */
	if (strcmp(name, "*") && is_in(names->tracepoints, names->nr_tracepoints, name))
		return LTTNG_EVENT_TRACEPOINT;
	if (is_in(names->calls, names->nr_calls, name))
		return LTTNG_EVENT_SYSCALL;
	return LTTNG_EVENT_ALL;
}

/* perf has them in groups of their own. */
static enum lttng_event_type find_call(const struct kc_names *names, const char *own, char **name)
{
	if (g_str_has_prefix(own, "sys_enter_") || g_str_has_prefix(own, "sys_exit_"))
		own = strchr(own + strlen("sys_"), '_') + 1;
	if (!is_in(names->calls, names->nr_calls, own))
		return LTTNG_EVENT_ALL;
	*name = g_strdup(own);
	return LTTNG_EVENT_SYSCALL;
}

/*
 * "sched:sched_switch" has the group in its own name, as LTTng has, and "kmem:kmalloc" has not. A
 * pattern must have it, too: it would match events of other groups.
 */
static enum lttng_event_type find_of_group(const struct kc_names *names, const char *group,
					   const char *own, char **name)
{
	if (is_in(names->tracepoints, names->nr_tracepoints, own) &&
	    (!strchr(own, '*') || g_str_has_prefix(own, group)))
		*name = g_strdup(own);
	else
		*name = g_strdup_printf("%s_%s", group, own);
	if (is_in(names->tracepoints, names->nr_tracepoints, *name))
		return LTTNG_EVENT_TRACEPOINT;
	g_clear_pointer(name, g_free);
	return LTTNG_EVENT_ALL;
}

/* "sched:sched_switch", "kmem:*" and "syscalls:sys_enter_openat". */
static enum lttng_event_type find_with_group(const struct kc_names *names,
					     const char *asked, char **name)
{
	const char *colon = strchr(asked, ':');
	g_autofree char *group = NULL;

	if (!colon || colon == asked)
		return LTTNG_EVENT_ALL;
	group = g_strndup(asked, (gsize)(colon - asked));
	if (!strcmp(group, "syscalls") || !strcmp(group, "raw_syscalls"))
		return find_call(names, colon + 1, name);
	return find_of_group(names, group, colon + 1, name);
}

/* How many characters to insert, remove or replace (Levenshtein). */
static unsigned int distance(const char *a, const char *b)
{
	size_t i, j, m = strlen(b);
	unsigned int *row = g_new(unsigned int, m + 1), left, result;

	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; a[i - 1]; i++) {
		left = row[0];
		row[0] = i;
		for (j = 1; j <= m; j++) {
			unsigned int above = row[j];

			row[j] = MIN(MIN(row[j], row[j - 1]) + 1,
				     left + (a[i - 1] != b[j - 1]));
			left = above;
		}
	}
	result = row[m];
	g_free(row);
	return result;
}

static const char *nearest(const struct lttng_event *events, int n, const char *asked,
			   const char *best, unsigned int *least)
{
	int i;

	for (i = 0; i < n; i++) {
		unsigned int away = distance(asked, events[i].name);

		if (away < *least) {
			*least = away;
			best = events[i].name;
		}
	}
	return best;
}

static void say_unknown(const struct kc_names *names, const char *asked)
{
	const char *plain = strchr(asked, ':') ? strchr(asked, ':') + 1 : asked;
	unsigned int least = strlen(plain) / 3 + 2;
	const char *best;
	char *hint = NULL;

	best = nearest(names->tracepoints, names->nr_tracepoints, plain, NULL, &least);
	best = nearest(names->calls, names->nr_calls, plain, best, &least);
	if (best)
		hint = g_strdup_printf("did you mean '%s'?", best);
	kc_error(hint ?: "'lttng list --kernel' and 'lttng list --kernel --syscall' list them",
		 "there is no event '%s'", asked);
	g_free(hint);
}

/*
 * From Linux 6.16 on, LTTng 2.16 has no page faults: it looks for their tracepoints in a header of
 * arch/x86, and they are in another one now.
 */
static void say_lacking(const char *ours)
{
	kc_error(strstr(ours, "page_fault") ?
			 "with kunwind-tracing loaded, 'perf record -e page-faults -g' records them" : NULL,
		 "LTTng has no event '%s' on this kernel", ours);
}

enum lttng_event_type kc_names_find(const struct kc_names *names, const char *asked,
				    char **name)
{
	enum lttng_event_type type;
	const char *ours = NULL;
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(others) && !ours; i++)
		if (!strcmp(asked, others[i].theirs) || !strcmp(asked, others[i].ours))
			ours = others[i].ours;
	*name = g_strdup(ours ?: asked);
	type = type_of(names, *name);
	if (type != LTTNG_EVENT_ALL)
		return type;
	g_clear_pointer(name, g_free);
	type = find_with_group(names, asked, name);
	if (type != LTTNG_EVENT_ALL)
		return type;
	if (ours)
		say_lacking(ours);
	else
		say_unknown(names, asked);
	return type;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Names of events: LTTng's, and those that perf and others have for them. */
#ifndef KC_NAMES_H
#define KC_NAMES_H

#include <lttng/lttng.h>
#include <stdbool.h>

/* What LTTng can record. */
struct kc_names {
	struct lttng_event *tracepoints;
	int nr_tracepoints;
	struct lttng_event *calls;
	int nr_calls;
};

/* Return: false if LTTng does not tell, and that was said. */
bool kc_names_load(struct kc_names *names, struct lttng_handle *handle);
void kc_names_free(struct kc_names *names);

/**
 * kc_names_find() - what somebody means
 * @names: what there is
 * @asked: a name, in which '*' stands for any characters
 * @name: set to LTTng's, for g_free()
 *
 * Return: LTTNG_EVENT_ALL if there is no such event, and that was said.
 */
enum lttng_event_type kc_names_find(const struct kc_names *names, const char *asked,
				    char **name);

#endif /* KC_NAMES_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* babeltrace2's graph that shows traces. The reader (reader.h) runs it. */
#ifndef KC_GRAPH_H
#define KC_GRAPH_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include "view.h"

struct kc_plugins;
struct kc_reader;

/* What is shown, and what it is compared with. */
#define KC_SIDES	2

/**
 * struct kc_graph - what is shown
 * @plugins: the plugins
 * @sides: struct kc_lane of each side; the second one may be NULL
 * @view: how; NULL: it is read only
 * @left_out: how many streams and traces are left out
 * @damaged: of how many traces a part is read
 * @stop: a signal that has come
 * @begun: set when an event was passed on
 */
struct kc_graph {
	const struct kc_plugins *plugins;
	GPtrArray *const *sides;
	const struct kc_view *view;
	unsigned int left_out;
	unsigned int damaged;
	const volatile sig_atomic_t *stop;
	volatile bool *begun;
};

/* Show traces in the reader, which is this process. Return: a status. */
int kc_graph_show(const struct kc_graph *what, const struct kc_reader *reader);

/* For a handler of signals: end it soon. */
void kc_graph_interrupt(void);

#endif /* KC_GRAPH_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reading traces to the end. If a reader (reader.h) dies, what it died of is left out
 * where that is possible, and another one reads the rest.
 */
#ifndef KC_READING_H
#define KC_READING_H

#include <glib.h>
#include <signal.h>

#include "graph.h"

/* What a reader writes: a file or folder, and a page. */
#define KC_OUTPUTS	2

/**
 * struct kc_reading - what is read, and where to
 * @sides: struct kc_lane of each side; the second one may be NULL
 * @plugins: of babeltrace2
 * @view: how it is shown; its paths are of descriptors
 * @outputs: these descriptors, or -1. Files are emptied when a reader dies
 * @nowhere: /dev/null, to write to
 * @stop: a signal that has come, after which all of this ends soon
 */
struct kc_reading {
	GPtrArray *sides[KC_SIDES];
	const struct kc_plugins *plugins;
	const struct kc_view *view;
	int outputs[KC_OUTPUTS];
	int nowhere;
	const volatile sig_atomic_t *stop;
};

/* Read traces, and say what is left out. Return: a status. */
int kc_read_traces(const struct kc_reading *what);

#endif /* KC_READING_H */

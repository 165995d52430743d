/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The sources of a graph of babeltrace2. */
#ifndef KC_SOURCES_H
#define KC_SOURCES_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

struct kc_progress;

/*
 * Add the sources of the traces in @folders, and connect them to @muxer. Unless @progress is
 * silent, it counts what they read.
 * Return: false after an error of babeltrace2, of the current thread.
 */
bool kc_sources_add(bt_graph *graph, const bt_plugin *ctf,
		    const bt_component_filter *muxer, GPtrArray *folders,
		    struct kc_progress *progress);

#endif /* KC_SOURCES_H */

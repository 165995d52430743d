/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What is read of a trace: how many events, and, on a terminal, how far it is. */
#ifndef KC_PROGRESS_H
#define KC_PROGRESS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/**
 * struct kc_progress - what is read, and what is said of it
 * @silent: nothing is said
 * @raw: neither events that are for the filter alone, nor losses, are passed on
 * @events: how many others were read
 * @lost: with @raw: how many the tracer had no room for
 * @lost_packets: likewise
 * @begun: set when one was passed on
 * @first: when the first event of all traces was, in ns
 * @last: when the last was; not after @first if it is not known
 * @begin: since when it is read
 * @said: when something was said last; 0: nothing was
 */
struct kc_progress {
	bool silent;
	bool raw;
	uint64_t events;
	uint64_t lost;
	uint64_t lost_packets;
	volatile bool *begun;
	int64_t first;
	int64_t last;
	time_t begin;
	time_t said;
};

#define KC_PROGRESS_INIT { .first = INT64_MAX, .last = INT64_MIN, .begin = time(NULL) }

/* Another part of what is read: what source.ctf.fs is made with. */
void kc_progress_add(struct kc_progress *progress,
		     const bt_component_class_source *class,
		     const bt_value *params);

/**
 * kc_progress_filter() - a filter that passes messages on, and says how far they are
 * @name: of the filter; no other component of the graph has it
 * @progress: must outlive the graph; several filters can have the same
 *
 * Return: NULL if it cannot be made.
 */
const bt_component_filter *kc_progress_filter(bt_graph *graph,
					      const char *name,
					      struct kc_progress *progress);

/* Remove what was said. */
void kc_progress_end(struct kc_progress *progress);

#endif /* KC_PROGRESS_H */

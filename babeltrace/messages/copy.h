/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Copies of a trace's classes and fields, for a filter that adds to them.
 *
 * Babeltrace's trace IR has no copy of its own, and what a message refers to
 * belongs to its maker. A copy has the same members in the same order. A caller
 * appends more, so that indexes into the original hold for the copy.
 */
#ifndef KR_COPY_H
#define KR_COPY_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

/**
 * struct kr_copier - the copying of one trace class
 * @to: the copy
 * @scopes: the originals that a field path can begin in, by bt_field_path_scope
 * @copies: bt_field_class of each original, for those who refer to it
 */
struct kr_copier {
	bt_trace_class *to;
	const bt_field_class *scopes[BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD + 1];
	GHashTable *copies;
};

/*
 * Everything here returns NULL or false when memory ran out, or if the trace
 * uses what this version of the trace IR does not have.
 */

/* Return: a copy of a field class, which the caller owns. */
bt_field_class *kr_copy_field_class(struct kr_copier *copier,
				    const bt_field_class *from);

void kr_copy_trace_class(const bt_trace_class *from, bt_trace_class *to);
bool kr_copy_trace(const bt_trace *from, bt_trace *to);
bool kr_copy_clock_class(const bt_clock_class *from, bt_clock_class *to);

/* All but clock, packet context and common context. */
bool kr_copy_stream_class(const bt_stream_class *from, bt_stream_class *to);
bool kr_copy_stream(const bt_stream *from, bt_stream *to);

/* All but specific context and payload. */
bool kr_copy_event_class(const bt_event_class *from, bt_event_class *to);

/* The values of a field; either may be NULL, which copies nothing. */
bool kr_copy_field(const bt_field *from, bt_field *to);

#endif /* KR_COPY_H */

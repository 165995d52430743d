/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Copies of the objects that messages refer to, for a filter whose messages must
 * refer to its own.
 *
 * A copy is made when it is first asked for. Each is found by the address of its
 * original, which is kept alive as long as the copy, so that an address is never
 * another object's.
 */
#ifndef KR_MIRROR_H
#define KR_MIRROR_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include "copy.h"
#include "maps.h"
#include "context.h"

struct kr_trace_class {
	const bt_trace_class *in;
	struct kr_copier copier;
};

/**
 * struct kr_stream_class - the class of some streams
 * @out: the copy
 * @trace_class: whose it is
 * @packet_context: of the original, or NULL
 * @common_context: likewise
 * @context: what of @common_context is of interest; the copy has more
 */
struct kr_stream_class {
	bt_stream_class *out;
	struct kr_trace_class *trace_class;
	const bt_field_class *packet_context;
	const bt_field_class *common_context;
	struct kr_context context;
};

struct kr_event_class {
	bt_event_class *out;
	struct kr_stream_class *stream_class;
	enum kr_maps_event maps;
};

struct kr_stream {
	const bt_stream *in;
	bt_stream *out;
};

struct kr_trace {
	const bt_trace *in;
	bt_trace *out;
};

/**
 * struct kr_mirror - all copies of a message iterator
 * @component: whose classes are made
 * @traces: struct kr_trace by bt_trace
 * @trace_classes: struct kr_trace_class by bt_trace_class
 * @stream_classes: struct kr_stream_class by bt_stream_class
 * @event_classes: struct kr_event_class by bt_event_class
 * @clock_classes: bt_clock_class by bt_clock_class
 * @streams: struct kr_stream by bt_stream
 * @packets: bt_packet by bt_packet
 */
struct kr_mirror {
	bt_self_component *component;
	GHashTable *traces;
	GHashTable *trace_classes;
	GHashTable *stream_classes;
	GHashTable *event_classes;
	GHashTable *clock_classes;
	GHashTable *streams;
	GHashTable *packets;
};

struct kr_mirror *kr_mirror_new(bt_self_component *component);
void kr_mirror_free(struct kr_mirror *mirror);

/* The messages begin anew; classes stay. */
void kr_mirror_rewind(struct kr_mirror *mirror);

/* Everything here returns NULL when memory ran out. */

struct kr_event_class *kr_mirror_event_class(struct kr_mirror *mirror,
					     const bt_event_class *in);

/* What has begun is found from then on, a packet until it is dropped. */
bt_stream *kr_mirror_begin_stream(struct kr_mirror *mirror, const bt_stream *in);
bt_packet *kr_mirror_begin_packet(struct kr_mirror *mirror, const bt_packet *in);
bt_stream *kr_mirror_stream(struct kr_mirror *mirror, const bt_stream *in);
bt_packet *kr_mirror_packet(struct kr_mirror *mirror, const bt_packet *in);
void kr_mirror_drop_packet(struct kr_mirror *mirror, const bt_packet *in);

#endif /* KR_MIRROR_H */

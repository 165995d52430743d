// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Traces, streams, packets and their classes, as copies. */
#include "mirror.h"

static void free_trace(gpointer data)
{
	struct kr_trace *trace = data;

	bt_trace_put_ref(trace->in);
	bt_trace_put_ref(trace->out);
	g_free(trace);
}

static void free_trace_class(gpointer data)
{
	struct kr_trace_class *class = data;

	bt_trace_class_put_ref(class->in);
	bt_trace_class_put_ref(class->copier.to);
	g_hash_table_destroy(class->copier.copies);
	g_free(class);
}

static void free_stream(gpointer data)
{
	struct kr_stream *stream = data;

	bt_stream_put_ref(stream->in);
	bt_stream_put_ref(stream->out);
	g_free(stream);
}

static struct kr_trace_class *trace_class_of(struct kr_mirror *mirror,
					     const bt_trace_class *in)
{
	struct kr_trace_class *class =
		g_hash_table_lookup(mirror->trace_classes, in);

	if (class)
		return class;
	class = g_new0(struct kr_trace_class, 1);
	class->copier.copies = g_hash_table_new(NULL, NULL);
	bt_trace_class_get_ref(in);
	class->in = in;
	class->copier.to = bt_trace_class_create(mirror->component);
	if (!class->copier.to) {
		free_trace_class(class);
		return NULL;
	}
	kr_copy_trace_class(in, class->copier.to);
	g_hash_table_insert(mirror->trace_classes, (void *)in, class);
	return class;
}

static struct kr_trace *trace_of(struct kr_mirror *mirror, const bt_trace *in)
{
	struct kr_trace *trace = g_hash_table_lookup(mirror->traces, in);
	struct kr_trace_class *class;

	if (trace)
		return trace;
	class = trace_class_of(mirror, bt_trace_borrow_class_const(in));
	if (!class)
		return NULL;
	trace = g_new0(struct kr_trace, 1);
	bt_trace_get_ref(in);
	trace->in = in;
	trace->out = bt_trace_create(class->copier.to);
	if (!trace->out || !kr_copy_trace(in, trace->out)) {
		free_trace(trace);
		return NULL;
	}
	g_hash_table_insert(mirror->traces, (void *)in, trace);
	return trace;
}

static bt_clock_class *clock_class_of(struct kr_mirror *mirror,
				      const bt_clock_class *in)
{
	bt_clock_class *out = g_hash_table_lookup(mirror->clock_classes, in);

	if (out)
		return out;
	out = bt_clock_class_create(mirror->component);
	if (!out || !kr_copy_clock_class(in, out)) {
		bt_clock_class_put_ref(out);
		return NULL;
	}
	g_hash_table_insert(mirror->clock_classes, (void *)in, out);
	return out;
}

typedef bt_stream_class_set_field_class_status set_stream_field_class(
	bt_stream_class *stream_class, bt_field_class *field_class);

static bool copy_stream_fields(struct kr_stream_class *class,
			       const bt_field_class *in, bool common,
			       set_stream_field_class *set)
{
	struct kr_copier *copier = &class->trace_class->copier;
	bt_field_class *out;
	bool done;

	if (!in)
		return true;
	out = kr_copy_field_class(copier, in);
	done = out && (!common ||
		       kr_context_append(&class->context, copier->to, out)) &&
	       !set(class->out, out);
	bt_field_class_put_ref(out);
	return done;
}

/* Paths of the scopes that a class is in lead to its own fields. */
static void set_scopes(struct kr_stream_class *class)
{
	const bt_field_class **scopes = class->trace_class->copier.scopes;

	scopes[BT_FIELD_PATH_SCOPE_PACKET_CONTEXT] = class->packet_context;
	scopes[BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT] = class->common_context;
}

static bool fill_stream_class(struct kr_mirror *mirror,
			      struct kr_stream_class *class,
			      const bt_stream_class *in)
{
	const bt_clock_class *clock =
		bt_stream_class_borrow_default_clock_class_const(in);
	bt_clock_class *copy;

	if (clock) {
		copy = clock_class_of(mirror, clock);
		if (!copy ||
		    bt_stream_class_set_default_clock_class(class->out, copy))
			return false;
	}
	class->packet_context =
		bt_stream_class_borrow_packet_context_field_class_const(in);
	class->common_context =
		bt_stream_class_borrow_event_common_context_field_class_const(in);
	kr_context_find(&class->context, class->common_context);
	set_scopes(class);
	return kr_copy_stream_class(in, class->out) &&
	       copy_stream_fields(class, class->packet_context, false,
			bt_stream_class_set_packet_context_field_class) &&
	       copy_stream_fields(class, class->common_context, true,
			bt_stream_class_set_event_common_context_field_class);
}

static struct kr_stream_class *stream_class_of(struct kr_mirror *mirror,
					       const bt_stream_class *in)
{
	struct kr_stream_class *class =
		g_hash_table_lookup(mirror->stream_classes, in);

	if (class)
		return class;
	class = g_new0(struct kr_stream_class, 1);
	class->trace_class = trace_class_of(mirror,
		bt_stream_class_borrow_trace_class_const(in));
	if (class->trace_class)
		class->out = bt_stream_class_create_with_id(
			class->trace_class->copier.to, bt_stream_class_get_id(in));
	/* The trace's class owns it. */
	bt_stream_class_put_ref(class->out);
	if (!class->out || !fill_stream_class(mirror, class, in)) {
		g_free(class);
		return NULL;
	}
	g_hash_table_insert(mirror->stream_classes, (void *)in, class);
	return class;
}

typedef bt_event_class_set_field_class_status set_event_field_class(
	bt_event_class *event_class, bt_field_class *field_class);

static bool copy_event_fields(struct kr_event_class *class,
			      const bt_field_class *in,
			      set_event_field_class *set)
{
	bt_field_class *out;
	bool done;

	if (!in)
		return true;
	out = kr_copy_field_class(&class->stream_class->trace_class->copier, in);
	done = out && !set(class->out, out);
	bt_field_class_put_ref(out);
	return done;
}

static bool fill_event_class(struct kr_event_class *class,
			     const bt_event_class *in)
{
	const bt_field_class **scopes =
		class->stream_class->trace_class->copier.scopes;
	const bt_field_class *context, *payload;

	context = bt_event_class_borrow_specific_context_field_class_const(in);
	payload = bt_event_class_borrow_payload_field_class_const(in);
	set_scopes(class->stream_class);
	scopes[BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT] = context;
	scopes[BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD] = payload;
	class->maps = kr_maps_event_of(in);
	return kr_copy_event_class(in, class->out) &&
	       copy_event_fields(class, context,
			bt_event_class_set_specific_context_field_class) &&
	       copy_event_fields(class, payload,
			bt_event_class_set_payload_field_class);
}

struct kr_event_class *kr_mirror_event_class(struct kr_mirror *mirror,
					     const bt_event_class *in)
{
	struct kr_event_class *class =
		g_hash_table_lookup(mirror->event_classes, in);

	if (class)
		return class;
	class = g_new0(struct kr_event_class, 1);
	class->stream_class = stream_class_of(mirror,
		bt_event_class_borrow_stream_class_const(in));
	if (class->stream_class)
		class->out = bt_event_class_create_with_id(
			class->stream_class->out, bt_event_class_get_id(in));
	/* The stream's class owns it. */
	bt_event_class_put_ref(class->out);
	if (!class->out || !fill_event_class(class, in)) {
		g_free(class);
		return NULL;
	}
	g_hash_table_insert(mirror->event_classes, (void *)in, class);
	return class;
}

bt_stream *kr_mirror_begin_stream(struct kr_mirror *mirror, const bt_stream *in)
{
	struct kr_stream_class *class =
		stream_class_of(mirror, bt_stream_borrow_class_const(in));
	struct kr_trace *trace = trace_of(mirror, bt_stream_borrow_trace_const(in));
	struct kr_stream *stream;

	if (!class || !trace)
		return NULL;
	stream = g_new0(struct kr_stream, 1);
	bt_stream_get_ref(in);
	stream->in = in;
	stream->out = bt_stream_create_with_id(class->out, trace->out,
					       bt_stream_get_id(in));
	if (!stream->out || !kr_copy_stream(in, stream->out)) {
		free_stream(stream);
		return NULL;
	}
	g_hash_table_replace(mirror->streams, (void *)in, stream);
	return stream->out;
}

bt_stream *kr_mirror_stream(struct kr_mirror *mirror, const bt_stream *in)
{
	const struct kr_stream *stream = g_hash_table_lookup(mirror->streams, in);

	return stream->out;
}

bt_packet *kr_mirror_begin_packet(struct kr_mirror *mirror, const bt_packet *in)
{
	bt_packet *packet = bt_packet_create(kr_mirror_stream(mirror,
		bt_packet_borrow_stream_const(in)));

	if (!packet)
		return NULL;
	bt_packet_get_ref(in);
	g_hash_table_replace(mirror->packets, (void *)in, packet);
	return kr_copy_field(bt_packet_borrow_context_field_const(in),
			     bt_packet_borrow_context_field(packet)) ? packet : NULL;
}

bt_packet *kr_mirror_packet(struct kr_mirror *mirror, const bt_packet *in)
{
	return g_hash_table_lookup(mirror->packets, in);
}

void kr_mirror_drop_packet(struct kr_mirror *mirror, const bt_packet *in)
{
	g_hash_table_remove(mirror->packets, in);
}

struct kr_mirror *kr_mirror_new(bt_self_component *component)
{
	struct kr_mirror *mirror = g_new0(struct kr_mirror, 1);

	mirror->component = component;
	mirror->traces = g_hash_table_new_full(NULL, NULL, NULL, free_trace);
	mirror->trace_classes = g_hash_table_new_full(NULL, NULL, NULL,
						      free_trace_class);
	mirror->stream_classes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	mirror->event_classes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	mirror->clock_classes = g_hash_table_new_full(NULL, NULL, NULL,
		(GDestroyNotify)bt_clock_class_put_ref);
	mirror->streams = g_hash_table_new_full(NULL, NULL, NULL, free_stream);
	mirror->packets = g_hash_table_new_full(NULL, NULL,
		(GDestroyNotify)bt_packet_put_ref,
		(GDestroyNotify)bt_packet_put_ref);
	return mirror;
}

void kr_mirror_free(struct kr_mirror *mirror)
{
	g_hash_table_destroy(mirror->packets);
	g_hash_table_destroy(mirror->streams);
	g_hash_table_destroy(mirror->traces);
	g_hash_table_destroy(mirror->event_classes);
	g_hash_table_destroy(mirror->stream_classes);
	g_hash_table_destroy(mirror->clock_classes);
	g_hash_table_destroy(mirror->trace_classes);
	g_free(mirror);
}

void kr_mirror_rewind(struct kr_mirror *mirror)
{
	g_hash_table_remove_all(mirror->packets);
	g_hash_table_remove_all(mirror->streams);
	g_hash_table_remove_all(mirror->traces);
}

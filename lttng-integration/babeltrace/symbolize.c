// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * filter.kunwind.symbolize: the same messages, with the resolved stack in the
 * common context of each event that has one (stack.h).
 *
 * Its messages refer to copies of all that the original ones refer to. A copy is
 * made when the first message needs it. The originals are kept alive as long as
 * the iterator, so that an address is never another object's.
 */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include "copy.h"
#include "kernel.h"
#include "maps.h"
#include "module.h"
#include "notes.h"
#include "plugin.h"
#include "resolve.h"
#include "space.h"
#include "symbolize.h"

struct component {
	bt_self_component_filter *self;
	char *sysroot;
	struct kr_kernel *kernel;
};

/* What there is of an input object; each is found by the address of the latter. */
struct trace {
	const bt_trace *in;
	bt_trace *out;
	struct kr_spaces *spaces;
};

struct trace_class {
	const bt_trace_class *in;
	struct kr_copier copier;
};

struct stream_class {
	bt_stream_class *out;
	struct trace_class *trace_class;
	const bt_field_class *packet_context;
	const bt_field_class *common_context;
	struct kr_context context;
};

struct event_class {
	bt_event_class *out;
	struct stream_class *stream_class;
	enum kr_maps_event maps;
};

struct stream {
	const bt_stream *in;
	bt_stream *out;
	struct trace *trace;
};

struct iterator {
	bt_self_message_iterator *self;
	struct component *component;
	bt_message_iterator *upstream;
	GHashTable *traces;
	GHashTable *trace_classes;
	GHashTable *stream_classes;
	GHashTable *event_classes;
	GHashTable *clock_classes;
	GHashTable *streams;
	GHashTable *packets;
	struct kr_modules *modules;
	struct kr_notes *notes;
	struct kr_resolver resolver;
	uint64_t maps;
};

static void free_trace(gpointer data)
{
	struct trace *trace = data;

	bt_trace_put_ref(trace->in);
	bt_trace_put_ref(trace->out);
	kr_spaces_free(trace->spaces);
	g_free(trace);
}

static void free_trace_class(gpointer data)
{
	struct trace_class *class = data;

	bt_trace_class_put_ref(class->in);
	bt_trace_class_put_ref(class->copier.to);
	g_hash_table_destroy(class->copier.copies);
	g_free(class);
}

static void free_stream(gpointer data)
{
	struct stream *stream = data;

	bt_stream_put_ref(stream->in);
	bt_stream_put_ref(stream->out);
	g_free(stream);
}

static struct trace_class *trace_class_of(struct iterator *it,
					  const bt_trace_class *in)
{
	struct trace_class *class = g_hash_table_lookup(it->trace_classes, in);

	if (class)
		return class;
	class = g_new0(struct trace_class, 1);
	class->copier.copies = g_hash_table_new(NULL, NULL);
	bt_trace_class_get_ref(in);
	class->in = in;
	class->copier.to = bt_trace_class_create(
		bt_self_component_filter_as_self_component(it->component->self));
	if (!class->copier.to) {
		free_trace_class(class);
		return NULL;
	}
	kr_copy_trace_class(in, class->copier.to);
	g_hash_table_insert(it->trace_classes, (void *)in, class);
	return class;
}

static struct trace *trace_of(struct iterator *it, const bt_trace *in)
{
	struct trace *trace = g_hash_table_lookup(it->traces, in);
	struct trace_class *class;

	if (trace)
		return trace;
	class = trace_class_of(it, bt_trace_borrow_class_const(in));
	if (!class)
		return NULL;
	trace = g_new0(struct trace, 1);
	trace->spaces = kr_spaces_new();
	bt_trace_get_ref(in);
	trace->in = in;
	trace->out = bt_trace_create(class->copier.to);
	if (!trace->out || !kr_copy_trace(in, trace->out)) {
		free_trace(trace);
		return NULL;
	}
	g_hash_table_insert(it->traces, (void *)in, trace);
	return trace;
}

static bt_clock_class *clock_class_of(struct iterator *it, const bt_clock_class *in)
{
	bt_clock_class *out = g_hash_table_lookup(it->clock_classes, in);

	if (out)
		return out;
	out = bt_clock_class_create(
		bt_self_component_filter_as_self_component(it->component->self));
	if (!out || !kr_copy_clock_class(in, out)) {
		bt_clock_class_put_ref(out);
		return NULL;
	}
	g_hash_table_insert(it->clock_classes, (void *)in, out);
	return out;
}

typedef bt_stream_class_set_field_class_status set_stream_field_class(
	bt_stream_class *stream_class, bt_field_class *field_class);

static bool copy_stream_fields(struct stream_class *class,
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
static void set_scopes(struct stream_class *class)
{
	const bt_field_class **scopes = class->trace_class->copier.scopes;

	scopes[BT_FIELD_PATH_SCOPE_PACKET_CONTEXT] = class->packet_context;
	scopes[BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT] = class->common_context;
}

static bool fill_stream_class(struct iterator *it, struct stream_class *class,
			      const bt_stream_class *in)
{
	const bt_clock_class *clock =
		bt_stream_class_borrow_default_clock_class_const(in);
	bt_clock_class *copy;

	if (clock) {
		copy = clock_class_of(it, clock);
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

static struct stream_class *stream_class_of(struct iterator *it,
					    const bt_stream_class *in)
{
	struct stream_class *class = g_hash_table_lookup(it->stream_classes, in);

	if (class)
		return class;
	class = g_new0(struct stream_class, 1);
	class->trace_class = trace_class_of(it,
		bt_stream_class_borrow_trace_class_const(in));
	if (class->trace_class)
		class->out = bt_stream_class_create_with_id(
			class->trace_class->copier.to, bt_stream_class_get_id(in));
	/* The trace's class owns it. */
	bt_stream_class_put_ref(class->out);
	if (!class->out || !fill_stream_class(it, class, in)) {
		g_free(class);
		return NULL;
	}
	g_hash_table_insert(it->stream_classes, (void *)in, class);
	return class;
}

typedef bt_event_class_set_field_class_status set_event_field_class(
	bt_event_class *event_class, bt_field_class *field_class);

static bool copy_event_fields(struct event_class *class, const bt_field_class *in,
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

static bool fill_event_class(struct event_class *class, const bt_event_class *in)
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

static struct event_class *event_class_of(struct iterator *it,
					  const bt_event_class *in)
{
	struct event_class *class = g_hash_table_lookup(it->event_classes, in);

	if (class)
		return class;
	class = g_new0(struct event_class, 1);
	class->stream_class = stream_class_of(it,
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
	g_hash_table_insert(it->event_classes, (void *)in, class);
	return class;
}

static struct stream *stream_of(struct iterator *it, const bt_stream *in)
{
	return g_hash_table_lookup(it->streams, in);
}

static bt_message *begin_stream(struct iterator *it, const bt_message *in)
{
	const bt_stream *from = bt_message_stream_beginning_borrow_stream_const(in);
	const bt_clock_snapshot *clock;
	struct stream_class *class;
	struct stream *stream;
	bt_message *out;

	class = stream_class_of(it, bt_stream_borrow_class_const(from));
	if (!class)
		return NULL;
	stream = g_new0(struct stream, 1);
	bt_stream_get_ref(from);
	stream->in = from;
	stream->trace = trace_of(it, bt_stream_borrow_trace_const(from));
	if (stream->trace)
		stream->out = bt_stream_create_with_id(class->out,
			stream->trace->out, bt_stream_get_id(from));
	if (!stream->out || !kr_copy_stream(from, stream->out)) {
		free_stream(stream);
		return NULL;
	}
	g_hash_table_replace(it->streams, (void *)from, stream);
	out = bt_message_stream_beginning_create(it->self, stream->out);
	if (out && bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(from)) &&
	    bt_message_stream_beginning_borrow_default_clock_snapshot_const(in,
			&clock) == BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		bt_message_stream_beginning_set_default_clock_snapshot(out,
			bt_clock_snapshot_get_value(clock));
	return out;
}

static bt_message *end_stream(struct iterator *it, const bt_message *in)
{
	const bt_stream *from = bt_message_stream_end_borrow_stream_const(in);
	const bt_clock_snapshot *clock;
	struct stream *stream = stream_of(it, from);
	bt_message *out = bt_message_stream_end_create(it->self, stream->out);

	if (out && bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(from)) &&
	    bt_message_stream_end_borrow_default_clock_snapshot_const(in,
			&clock) == BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		bt_message_stream_end_set_default_clock_snapshot(out,
			bt_clock_snapshot_get_value(clock));
	return out;
}

static bt_message *begin_packet(struct iterator *it, const bt_message *in)
{
	const bt_packet *from = bt_message_packet_beginning_borrow_packet_const(in);
	struct stream *stream = stream_of(it, bt_packet_borrow_stream_const(from));
	bt_packet *packet = bt_packet_create(stream->out);

	if (!packet)
		return NULL;
	bt_packet_get_ref(from);
	g_hash_table_replace(it->packets, (void *)from, packet);
	if (!kr_copy_field(bt_packet_borrow_context_field_const(from),
			   bt_packet_borrow_context_field(packet)))
		return NULL;
	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(
			bt_stream_borrow_class_const(stream->in)))
		return bt_message_packet_beginning_create(it->self, packet);
	return bt_message_packet_beginning_create_with_default_clock_snapshot(
		it->self, packet, bt_clock_snapshot_get_value(
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(
				in)));
}

static bt_message *end_packet(struct iterator *it, const bt_message *in)
{
	const bt_packet *from = bt_message_packet_end_borrow_packet_const(in);
	bt_packet *packet = g_hash_table_lookup(it->packets, from);
	bt_message *out;

	if (!bt_stream_class_packets_have_end_default_clock_snapshot(
			bt_stream_borrow_class_const(
				bt_packet_borrow_stream_const(from))))
		out = bt_message_packet_end_create(it->self, packet);
	else
		out = bt_message_packet_end_create_with_default_clock_snapshot(
			it->self, packet, bt_clock_snapshot_get_value(
				bt_message_packet_end_borrow_default_clock_snapshot_const(
					in)));
	g_hash_table_remove(it->packets, from);
	return out;
}

static bt_message *discard_events(struct iterator *it, const bt_message *in)
{
	const bt_stream *from = bt_message_discarded_events_borrow_stream_const(in);
	struct stream *stream = stream_of(it, from);
	bt_message *out;
	uint64_t count;

	if (bt_stream_class_discarded_events_have_default_clock_snapshots(
			bt_stream_borrow_class_const(from)))
		out = bt_message_discarded_events_create_with_default_clock_snapshots(
			it->self, stream->out,
			bt_clock_snapshot_get_value(
				bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
					in)),
			bt_clock_snapshot_get_value(
				bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
					in)));
	else
		out = bt_message_discarded_events_create(it->self, stream->out);
	if (bt_message_discarded_events_get_count(in, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 1;
	else if (out)
		bt_message_discarded_events_set_count(out, count);
	kr_note_many(it->notes, KR_LOST, count);
	return out;
}

static bt_message *discard_packets(struct iterator *it, const bt_message *in)
{
	const bt_stream *from = bt_message_discarded_packets_borrow_stream_const(in);
	struct stream *stream = stream_of(it, from);
	bt_message *out;
	uint64_t count;

	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(
			bt_stream_borrow_class_const(from)))
		out = bt_message_discarded_packets_create_with_default_clock_snapshots(
			it->self, stream->out,
			bt_clock_snapshot_get_value(
				bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
					in)),
			bt_clock_snapshot_get_value(
				bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
					in)));
	else
		out = bt_message_discarded_packets_create(it->self, stream->out);
	if (bt_message_discarded_packets_get_count(in, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 1;
	else if (out)
		bt_message_discarded_packets_set_count(out, count);
	kr_note_many(it->notes, KR_LOST_PACKETS, count);
	return out;
}

static bt_message *create_event(struct iterator *it, const bt_message *in,
				const bt_event *from, bt_event_class *class,
				struct stream *stream)
{
	const bt_packet *in_packet = bt_event_borrow_packet_const(from);
	bt_packet *packet = NULL;
	uint64_t clock;

	if (in_packet)
		packet = g_hash_table_lookup(it->packets, in_packet);
	if (!bt_message_event_borrow_stream_class_default_clock_class_const(in))
		return packet ?
			bt_message_event_create_with_packet(it->self, class, packet) :
			bt_message_event_create(it->self, class, stream->out);
	clock = bt_clock_snapshot_get_value(
		bt_message_event_borrow_default_clock_snapshot_const(in));
	return packet ?
		bt_message_event_create_with_packet_and_default_clock_snapshot(
			it->self, class, packet, clock) :
		bt_message_event_create_with_default_clock_snapshot(
			it->self, class, stream->out, clock);
}

static bool copy_event(const bt_event *from, bt_event *to)
{
	return kr_copy_field(bt_event_borrow_common_context_field_const(from),
			     bt_event_borrow_common_context_field(to)) &&
	       kr_copy_field(bt_event_borrow_specific_context_field_const(from),
			     bt_event_borrow_specific_context_field(to)) &&
	       kr_copy_field(bt_event_borrow_payload_field_const(from),
			     bt_event_borrow_payload_field(to));
}

static bt_message *handle_event(struct iterator *it, const bt_message *in)
{
	const bt_event *from = bt_message_event_borrow_event_const(in);
	struct stream *stream = stream_of(it, bt_event_borrow_stream_const(from));
	struct event_class *class = event_class_of(it,
		bt_event_borrow_class_const(from));
	struct kr_resolver *resolver = &it->resolver;
	const struct kr_context *context;
	bt_message *out;
	bt_event *to;

	if (!class)
		return NULL;
	resolver->spaces = stream->trace->spaces;
	out = create_event(it, in, from, class->out, stream);
	if (!out)
		return NULL;
	to = bt_message_event_borrow_event(out);
	if (class->maps) {
		kr_maps_apply(class->maps, from, resolver->spaces, it->modules);
		it->maps++;
	}
	context = &class->stream_class->context;
	if (!copy_event(from, to) ||
	    (context->stack >= 0 &&
	     !kr_resolve(resolver, context,
			 bt_event_borrow_common_context_field_const(from),
			 bt_event_borrow_common_context_field(to)))) {
		bt_message_put_ref(out);
		return NULL;
	}
	return out;
}

static const bt_message *handle(struct iterator *it, const bt_message *in)
{
	switch (bt_message_get_type(in)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return begin_stream(it, in);
	case BT_MESSAGE_TYPE_STREAM_END:
		return end_stream(it, in);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return begin_packet(it, in);
	case BT_MESSAGE_TYPE_PACKET_END:
		return end_packet(it, in);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return discard_events(it, in);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return discard_packets(it, in);
	case BT_MESSAGE_TYPE_EVENT:
		return handle_event(it, in);
	default:
		/* It refers to no trace. */
		bt_message_get_ref(in);
		return in;
	}
}

static void say_notes(struct iterator *it)
{
	if (it->resolver.stacks && !it->maps) {
		kr_notes_forget(it->notes, KR_NO_SPACE);
		kr_notes_forget(it->notes, KR_UNKNOWN_SPACE);
		kr_note_many(it->notes, KR_NO_MAPS, it->resolver.stacks);
	}
	if (bt_component_get_logging_level(bt_self_component_as_component(
			bt_self_component_filter_as_self_component(
				it->component->self))) <= BT_LOGGING_LEVEL_WARNING)
		kr_notes_say(it->notes);
	it->resolver.stacks = 0;
	it->maps = 0;
}

bt_message_iterator_class_next_method_status kr_symbolize_next(
	bt_self_message_iterator *self, bt_message_array_const out,
	uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	bt_message_iterator_next_status status;
	bt_message_array_const in;
	const bt_error *error;
	uint64_t i, n;
	bool all;

	(void)capacity;
	status = bt_message_iterator_next(it->upstream, &in, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		say_notes(it);
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_message_iterator_class_next_method_status)status;
	/* source.ctf.fs leaves one that it will only tell of next time. */
	error = bt_current_thread_take_error();
	for (i = 0; i < n; i++) {
		out[i] = handle(it, in[i]);
		if (!out[i])
			break;
	}
	all = i == n;
	if (error)
		bt_current_thread_move_error(error);
	if (!all) {
		while (i-- > 0)
			bt_message_put_ref(out[i]);
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self,
			"kunwind: a message cannot be copied: out of memory");
	}
	for (i = 0; i < n; i++)
		bt_message_put_ref(in[i]);
	*count = n;
	return all ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
		     BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
}

static void free_iterator(struct iterator *it)
{
	g_hash_table_destroy(it->packets);
	g_hash_table_destroy(it->streams);
	g_hash_table_destroy(it->traces);
	g_hash_table_destroy(it->event_classes);
	g_hash_table_destroy(it->stream_classes);
	g_hash_table_destroy(it->clock_classes);
	g_hash_table_destroy(it->trace_classes);
	bt_message_iterator_put_ref(it->upstream);
	kr_modules_free(it->modules);
	kr_notes_free(it->notes);
	g_free(it);
}

bt_message_iterator_class_initialize_method_status kr_symbolize_init_iterator(
	bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port)
{
	struct component *component = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));
	bt_message_iterator_create_from_message_iterator_status status;
	bt_message_iterator *upstream;
	struct iterator *it;

	(void)port;
	status = bt_message_iterator_create_from_message_iterator(self,
		bt_self_component_filter_borrow_input_port_by_index(component->self,
								    0),
		&upstream);
	if (status)
		return (bt_message_iterator_class_initialize_method_status)status;
	it = g_new0(struct iterator, 1);
	it->self = self;
	it->component = component;
	it->upstream = upstream;
	it->traces = g_hash_table_new_full(NULL, NULL, NULL, free_trace);
	it->trace_classes = g_hash_table_new_full(NULL, NULL, NULL,
						  free_trace_class);
	it->stream_classes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	it->event_classes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	it->clock_classes = g_hash_table_new_full(NULL, NULL, NULL,
		(GDestroyNotify)bt_clock_class_put_ref);
	it->streams = g_hash_table_new_full(NULL, NULL, NULL, free_stream);
	it->packets = g_hash_table_new_full(NULL, NULL,
		(GDestroyNotify)bt_packet_put_ref,
		(GDestroyNotify)bt_packet_put_ref);
	it->notes = kr_notes_new();
	it->modules = kr_modules_new(component->sysroot, it->notes);
	it->resolver.kernel = component->kernel;
	it->resolver.notes = it->notes;
	bt_self_message_iterator_configuration_set_can_seek_forward(config,
		bt_message_iterator_can_seek_forward(upstream));
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void kr_symbolize_finalize_iterator(bt_self_message_iterator *self)
{
	free_iterator(bt_self_message_iterator_get_data(self));
}

bt_message_iterator_class_can_seek_beginning_method_status
kr_symbolize_can_seek(bt_self_message_iterator *self, bt_bool *can)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	return (bt_message_iterator_class_can_seek_beginning_method_status)
		bt_message_iterator_can_seek_beginning(it->upstream, can);
}

/* What is mapped begins anew, and so do the streams. */
bt_message_iterator_class_seek_beginning_method_status
kr_symbolize_seek(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	g_hash_table_remove_all(it->packets);
	g_hash_table_remove_all(it->streams);
	g_hash_table_remove_all(it->traces);
	it->resolver.stacks = 0;
	it->maps = 0;
	return (bt_message_iterator_class_seek_beginning_method_status)
		bt_message_iterator_seek_beginning(it->upstream);
}

static void free_component(struct component *component)
{
	if (component->kernel)
		kr_kernel_free(component->kernel);
	g_free(component->sysroot);
	g_free(component);
}

static bool read_params(struct component *component, const bt_value *params,
			bt_self_component *self)
{
	static const char *const names[] = { "sysroot", "kallsyms", NULL };
	const bt_value *kallsyms, *sysroot;
	const char *path;

	if (!kr_params_are_known(params, names, self))
		return false;
	sysroot = bt_value_map_borrow_entry_value_const(params, "sysroot");
	kallsyms = bt_value_map_borrow_entry_value_const(params, "kallsyms");
	if (sysroot) {
		path = bt_value_string_get(sysroot);
		if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
				"kunwind: sysroot: %s is no directory", path);
			return false;
		}
		component->sysroot = g_canonicalize_filename(path, NULL);
	}
	if (kallsyms) {
		path = bt_value_string_get(kallsyms);
		component->kernel = kr_kernel_read(path);
		if (!component->kernel) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
				"kunwind: kallsyms: %s: %s", path,
				errno == ENODATA ?
				"it has no addresses: have root copy /proc/kallsyms" :
				strerror(errno));
			return false;
		}
	}
	return true;
}

bt_component_class_initialize_method_status kr_symbolize_init(
	bt_self_component_filter *self_filter,
	bt_self_component_filter_configuration *config, const bt_value *params,
	void *data)
{
	bt_self_component *self =
		bt_self_component_filter_as_self_component(self_filter);
	struct component *component;
	int status;

	(void)config;
	(void)data;
	status = bt_self_component_filter_add_input_port(self_filter, "in", NULL,
							 NULL);
	if (!status)
		status = bt_self_component_filter_add_output_port(self_filter, "out",
								  NULL, NULL);
	if (status)
		return status;
	component = g_new0(struct component, 1);
	component->self = self_filter;
	if (!read_params(component, params, self)) {
		free_component(component);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(self, component);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void kr_symbolize_finalize(bt_self_component_filter *self)
{
	free_component(bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self)));
}

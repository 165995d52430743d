// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Any classes and values: see any_trace.h. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include "any_fields.h"
#include "any_trace.h"
#include "fuzz.h"

#define MEMBERS	9

struct class {
	const char *name;
	struct any_member members[MEMBERS];
};

static const struct any_member context[] = {
	{ 's', "procname" }, { 'i', "pid" }, { 'i', "tid" }, { 'a', "callstack_kernel" },
	{ 'a', "callstack_user_unwind" }, { 'e', "_callstack_user_unwind_stop" },
	{ 'u', "_callstack_user_unwind_space" }, { 'u', "_callstack_user_unwind_proven" },
	{ 'u', "_callstack_user_unwind_interrupted" },
};

static const struct any_member packet_context[] = { { 'u', "cpu_id" } };

static const struct class classes[] = {
	{ "kunwind_map", { { 'u', "space" }, { 'u', "start" }, { 'u', "end" }, { 'u', "offset" },
			   { 'u', "dev" }, { 'u', "inode" }, { 'a', "build_id" },
			   { 's', "path" } } },
	{ "kunwind_statedump_map", { { 'u', "space" }, { 'u', "start" }, { 'u', "end" },
				     { 'u', "offset" }, { 'u', "dev" }, { 'u', "inode" },
				     { 'a', "build_id" }, { 's', "path" } } },
	{ "kunwind_unmap", { { 'u', "space" }, { 'u', "start" }, { 'u', "end" } } },
	{ "kunwind_fork", { { 'u', "parent_space" }, { 'u', "child_space" } } },
	{ "kunwind_exit", { { 'u', "space" } } },
	{ "kunwind_statedump_begin", { { 'u', "none" } } },
	{ "kunwind_statedump_end", { { 'i', "error" } } },
	/* From here on, in the other stream. */
#define NR_MAPS	7
	{ "syscall_entry_openat", { { 'i', "dfd" }, { 's', "filename" }, { 'u', "flags" } } },
	{ "syscall_exit_openat", { { 'i', "ret" } } },
	{ "syscall_entry_mmap", { { 'u', "addr" }, { 'u', "len" }, { 'i', "prot" },
				  { 'i', "flags" } } },
	{ "syscall_exit_mmap", { { 'u', "addr" }, { 'i', "ret" } } },
	{ "syscall_exit_execve", { { 'i', "ret" } } },
	{ "sched_switch", { { 'i', "prev_tid" }, { 'i', "prev_state" }, { 's', "next_comm" },
			    { 'i', "next_tid" } } },
	{ "sched_waking", { { 's', "comm" }, { 'i', "tid" } } },
	{ "cpu_sample", { { 'u', "period" }, { 'u', "ip" }, { 'u', "user" },
			  { 'a', "callstack_kernel" } } },
	/* No other name is known. */
	{ "custom", { { 's', "text" }, { 'e', "state" }, { 'a', "list" } } },
};

/* What is no event, after them. */
enum { LOST_EVENTS = G_N_ELEMENTS(classes), LOST_PACKETS, QUIET, AGAIN, NR_STEPS };

/* In nanoseconds: some minutes. */
#define MOST_QUIET	(1ULL << 40)

enum { MAPS, EVENTS, NR_STREAM_CLASSES };

/* Of two machines. */
#define TRACES		2
#define STREAMS		(TRACES * NR_STREAM_CLASSES)

/**
 * struct source - two traces
 * @in: what they are made of
 * @traces: the traces
 * @streams: those of one, then those of the other
 * @packets: where each of them is
 * @events: what it has
 * @time: of the last message
 * @begun: how many streams have begun, and of their packets
 * @ended: how many have ended, of their packets too
 * @again: next, the source says that a live trace's writer is behind
 */
struct source {
	struct any_bytes *in;
	bt_trace *traces[TRACES];
	bt_stream *streams[STREAMS];
	bt_packet *packets[STREAMS];
	bt_event_class *events[G_N_ELEMENTS(classes)];
	u64 time;
	u32 begun;
	u32 ended;
	bool again;
};

static bt_stream_class *create_stream_class(struct source *source, bt_trace_class *trace,
					    bt_clock_class *clock, u32 number)
{
	bt_stream_class *class = bt_stream_class_create(trace);
	bt_field_class *structure;

	must(!bt_stream_class_set_default_clock_class(class, clock));
	bt_stream_class_set_supports_packets(class, true, true, true);
	bt_stream_class_set_supports_discarded_events(class, true, true);
	bt_stream_class_set_supports_discarded_packets(class, true, true);
	structure = any_structure(source->in, trace, packet_context, G_N_ELEMENTS(packet_context));
	must(!bt_stream_class_set_packet_context_field_class(class, structure));
	bt_field_class_put_ref(structure);
	if (number != EVENTS)
		return class;
	structure = any_structure(source->in, trace, context, G_N_ELEMENTS(context));
	must(!bt_stream_class_set_event_common_context_field_class(class, structure));
	bt_field_class_put_ref(structure);
	return class;
}

static void create_event_class(struct source *source, bt_trace_class *trace,
			       bt_stream_class *stream, u32 number)
{
	bt_field_class *structure = any_structure(source->in, trace, classes[number].members,
						  MEMBERS);

	source->events[number] = bt_event_class_create(stream);
	must(!bt_event_class_set_name(source->events[number], classes[number].name));
	must(!bt_event_class_set_payload_field_class(source->events[number], structure));
	bt_field_class_put_ref(structure);
}

static void create_streams(struct source *source, u32 number, bt_stream_class *const *of)
{
	bt_trace *trace = source->traces[number];
	u32 i, at = number * NR_STREAM_CLASSES;

	must(!bt_trace_set_environment_entry_string(trace, "hostname", number ? "b" : "a"));
	for (i = 0; i < NR_STREAM_CLASSES; i++, at++) {
		source->streams[at] = bt_stream_create(of[i], trace);
		source->packets[at] = bt_packet_create(source->streams[at]);
		any_fill(source->in, bt_packet_borrow_context_field(source->packets[at]));
	}
}

static bt_component_class_initialize_method_status begin_source(
	bt_self_component_source *self, bt_self_component_source_configuration *config,
	const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	struct source *source = g_new0(struct source, 1);
	bt_trace_class *trace = bt_trace_class_create(component);
	bt_clock_class *clock = bt_clock_class_create(component);
	bt_stream_class *streams[NR_STREAM_CLASSES];
	u32 i;

	(void)config, (void)params;
	source->in = data;
	must(!bt_self_component_source_add_output_port(self, "out", NULL, NULL));
	for (i = 0; i < NR_STREAM_CLASSES; i++)
		streams[i] = create_stream_class(source, trace, clock, i);
	for (i = 0; i < G_N_ELEMENTS(classes); i++)
		create_event_class(source, trace, streams[i < NR_MAPS ? MAPS : EVENTS], i);
	for (i = 0; i < TRACES; i++) {
		source->traces[i] = bt_trace_create(trace);
		create_streams(source, i, streams);
	}
	for (i = 0; i < NR_STREAM_CLASSES; i++)
		bt_stream_class_put_ref(streams[i]);
	bt_clock_class_put_ref(clock);
	bt_trace_class_put_ref(trace);
	bt_self_component_set_data(component, source);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void end_source(bt_self_component_source *self)
{
	struct source *source = bt_self_component_get_data(
		bt_self_component_source_as_self_component(self));
	u32 i;

	for (i = 0; i < G_N_ELEMENTS(classes); i++)
		bt_event_class_put_ref(source->events[i]);
	for (i = 0; i < STREAMS; i++) {
		bt_packet_put_ref(source->packets[i]);
		bt_stream_put_ref(source->streams[i]);
	}
	for (i = 0; i < TRACES; i++)
		bt_trace_put_ref(source->traces[i]);
	g_free(source);
}

static bt_message *create_event(struct source *source, bt_self_message_iterator *self,
				u32 trace, u32 number)
{
	bt_packet *packet = source->packets[trace * NR_STREAM_CLASSES +
					    (number < NR_MAPS ? MAPS : EVENTS)];
	bt_message *message = bt_message_event_create_with_packet_and_default_clock_snapshot(
		self, source->events[number], packet, source->time);
	bt_event *event = bt_message_event_borrow_event(message);

	if (bt_event_borrow_common_context_field(event))
		any_fill(source->in, bt_event_borrow_common_context_field(event));
	any_fill(source->in, bt_event_borrow_payload_field(event));
	return message;
}

/* Return: what is lost in a stream, until now. */
static bt_message *create_loss(struct source *source, bt_self_message_iterator *self, bool packets)
{
	u8 how = any_byte(source->in);
	bt_stream *stream = source->streams[how % STREAMS];
	u64 begin = source->time - MIN(source->time, how / 8);
	bt_message *message;

	if (packets) {
		message = bt_message_discarded_packets_create_with_default_clock_snapshots(
			self, stream, begin, source->time);
		if (how & 4)
			bt_message_discarded_packets_set_count(message, how / 4 + 1);
	} else {
		message = bt_message_discarded_events_create_with_default_clock_snapshots(
			self, stream, begin, source->time);
		if (how & 4)
			bt_message_discarded_events_set_count(message, how / 4 + 1);
	}
	return message;
}

/* A live trace says what time it is. */
static bt_message *create_quiet(struct source *source, bt_self_message_iterator *self)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(source->streams[0]);

	source->time += any_number(source->in) % MOST_QUIET;
	return bt_message_message_iterator_inactivity_create(
		self, bt_stream_class_borrow_default_clock_class_const(class), source->time);
}

static bt_message *begin(struct source *source, bt_self_message_iterator *self)
{
	u32 stream = source->begun / 2;

	if (source->begun++ % 2)
		return bt_message_packet_beginning_create_with_default_clock_snapshot(
			self, source->packets[stream], 0);
	return bt_message_stream_beginning_create(self, source->streams[stream]);
}

static bt_message *end(struct source *source, bt_self_message_iterator *self)
{
	u32 stream = source->ended / 2;

	if (source->ended++ % 2)
		return bt_message_stream_end_create(self, source->streams[stream]);
	return bt_message_packet_end_create_with_default_clock_snapshot(
		self, source->packets[stream], source->time);
}

/* Return: the next message; NULL if there is none, or @again. A byte says what and when. */
static bt_message *create_message(struct source *source, bt_self_message_iterator *self)
{
	u32 step, trace;

	if (source->begun < 2 * STREAMS)
		return begin(source, self);
	step = any_byte(source->in);
	if (source->in->at == source->in->end)
		return source->ended < 2 * STREAMS ? end(source, self) : NULL;
	source->time += step / (TRACES * NR_STEPS);
	trace = step / NR_STEPS % TRACES;
	step %= NR_STEPS;
	if (step == QUIET)
		return create_quiet(source, self);
	source->again = step == AGAIN;
	if (source->again)
		return NULL;
	return step < LOST_EVENTS ? create_event(source, self, trace, step) :
				    create_loss(source, self, step == LOST_PACKETS);
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *self,
							 bt_message_array_const messages,
							 uint64_t capacity, uint64_t *count)
{
	struct source *source = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));

	*count = 0;
	while (!source->again && *count < capacity) {
		messages[*count] = create_message(source, self);
		if (!messages[*count])
			break;
		++*count;
	}
	if (*count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	if (!source->again)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	source->again = false;
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
}

const bt_component_class_source *any_trace_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(next);
	bt_component_class_source *class = bt_component_class_source_create("any", iterator);

	bt_component_class_source_set_initialize_method(class, begin_source);
	bt_component_class_source_set_finalize_method(class, end_source);
	bt_message_iterator_class_put_ref(iterator);
	return class;
}

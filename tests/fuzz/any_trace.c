// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Any classes and values: see any_trace.h. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include "any_trace.h"
#include "fuzz.h"

/*
 * A letter is a type: unsigned, integer, float, bool, string, enumeration; of unsigned numbers an
 * array, one of constant length, an option, a variant, or something nested; S: an array of
 * strings; O: an option of an array.
 */
struct member {
	char type;
	const char *name;
};

#define MEMBERS	9

struct class {
	const char *name;
	struct member members[MEMBERS];
};

static const struct member context[] = {
	{ 's', "procname" }, { 'i', "pid" }, { 'i', "tid" }, { 'a', "callstack_kernel" },
	{ 'a', "callstack_user_unwind" }, { 'e', "_callstack_user_unwind_stop" },
	{ 'u', "_callstack_user_unwind_space" }, { 'u', "_callstack_user_unwind_proven" },
	{ 'u', "_callstack_user_unwind_interrupted" },
};

static const struct member packet_context[] = { { 'u', "cpu_id" } };

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
enum { LOST_EVENTS = G_N_ELEMENTS(classes), LOST_PACKETS, QUIET, NR_STEPS };

enum { MAPS, EVENTS, NR_STREAMS };

/* Those of the trace at hand. */
static struct any_bytes *input;

static u8 take(void)
{
	return any_byte(input);
}

/* Mostly a small number, so that many are the same. */
static u64 take_number(void)
{
	u8 first = take();
	u64 number = 0;

	if (first < 0xf0)
		return (u64)(first % 16) << 4 * (first / 16);
	for (; first > 0xf0 && first <= 0xf8; first--)
		number = number << 8 | take();
	return first > 0xf8 ? 0 - (u64)(first & 7) : number;
}

static void take_string(char *text, size_t size)
{
	static const char *const names[] = { "", "[vdso]", "/a", "/b/a", "[anon:x]", "/a\nb" };
	u8 first = take();
	size_t i, length = first % 16;

	if (first / 16 < G_N_ELEMENTS(names)) {
		g_strlcpy(text, names[first / 16], size);
		return;
	}
	for (i = 0; i < length; i++)
		text[i] = take();
	text[length] = '\0';
}

static bt_field_class *create_class(bt_trace_class *trace, char type);

static bt_field_class *create_labelled(bt_trace_class *trace)
{
	bt_field_class *class = bt_field_class_enumeration_unsigned_create(trace);
	bt_integer_range_set_unsigned *range = bt_integer_range_set_unsigned_create();

	must(!bt_integer_range_set_unsigned_add_range(range, 0, 1));
	must(!bt_field_class_enumeration_unsigned_add_mapping(class, "COMPLETE", range));
	bt_integer_range_set_unsigned_put_ref(range);
	return class;
}

/* An array, an option, or such, of another type. */
static bt_field_class *create_outer(bt_trace_class *trace, char type, char inner)
{
	bt_field_class *content = create_class(trace, inner), *class;

	switch (type) {
	case 'c':
		class = bt_field_class_array_static_create(trace, content, 3);
		break;
	case 'o':
		class = bt_field_class_option_without_selector_create(trace, content);
		break;
	case 'v':
		class = bt_field_class_variant_create(trace, NULL);
		must(!bt_field_class_variant_without_selector_append_option(class, "x", content));
		break;
	case 'n':
		class = bt_field_class_structure_create(trace);
		must(!bt_field_class_structure_append_member(class, "x", content));
		break;
	default:
		class = bt_field_class_array_dynamic_create(trace, content, NULL);
	}
	bt_field_class_put_ref(content);
	return class;
}

static bt_field_class *create_class(bt_trace_class *trace, char type)
{
	switch (type) {
	case 'u':
		return bt_field_class_integer_unsigned_create(trace);
	case 'i':
		return bt_field_class_integer_signed_create(trace);
	case 's':
		return bt_field_class_string_create(trace);
	case 'e':
		return create_labelled(trace);
	case 'f':
		return bt_field_class_real_double_precision_create(trace);
	case 'b':
		return bt_field_class_bool_create(trace);
	case 'S':
		return create_outer(trace, 'a', 's');
	case 'O':
		return create_outer(trace, 'o', 'a');
	}
	return create_outer(trace, type, 'u');
}

/* Another type than a member should have. */
static char take_type(void)
{
	static const char types[] = "uisaefbcovnSO";

	return types[take() % (sizeof(types) - 1)];
}

static void append(bt_field_class *structure, const char *name, bt_field_class *member)
{
	must(!bt_field_class_structure_append_member(structure, name, member));
	bt_field_class_put_ref(member);
}

/* What another field tells the length of, or whether it is there, or which one it is. */
static bt_field_class *create_selected(bt_trace_class *trace, bt_field_class *by)
{
	bt_integer_range_set_unsigned *range = bt_integer_range_set_unsigned_create();
	bt_field_class *content = create_class(trace, take_type()), *class;

	must(!bt_integer_range_set_unsigned_add_range(range, 0, 3));
	switch (take() % 3) {
	case 0:
		class = bt_field_class_array_dynamic_create(trace, content, by);
		break;
	case 1:
		class = bt_field_class_option_with_selector_field_integer_unsigned_create(
			trace, content, by, range);
		break;
	default:
		class = bt_field_class_variant_create(trace, by);
		must(!bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
			class, "x", content, range));
	}
	bt_field_class_put_ref(content);
	bt_integer_range_set_unsigned_put_ref(range);
	return class;
}

static void append_selected(bt_trace_class *trace, bt_field_class *structure, const char *name)
{
	bt_field_class *by = bt_field_class_integer_unsigned_create(trace);
	char *selector = g_strdup_printf("_%s_length", name);

	must(!bt_field_class_structure_append_member(structure, selector, by));
	append(structure, name, create_selected(trace, by));
	bt_field_class_put_ref(by);
	g_free(selector);
}

static bt_field_class *create_structure(bt_trace_class *trace, const struct member *members,
					size_t count)
{
	bt_field_class *structure = bt_field_class_structure_create(trace);
	u8 change = take();
	size_t i;

	for (i = 0; i < count && members[i].type; i++) {
		/* One of them, in one of four inputs. */
		bool changed = change >= 0xc0 && change % 16 == i;

		if (changed && change < 0xd0)
			continue;
		if (changed && change < 0xe0)
			append_selected(trace, structure, members[i].name);
		else
			append(structure, members[i].name,
			       create_class(trace, changed ? take_type() : members[i].type));
	}
	return structure;
}

static void fill(bt_field *field);

static void fill_members(bt_field *field)
{
	u64 i, count = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(field));

	for (i = 0; i < count; i++)
		fill(bt_field_structure_borrow_member_field_by_index(field, i));
}

static void fill_elements(bt_field *field)
{
	u64 i, count = bt_field_array_get_length(field);

	/* Nothing says that the field that should tell the length tells the truth. */
	if (bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STATIC_ARRAY) {
		count = take() % 8;
		must(!bt_field_array_dynamic_set_length(field, count));
	}
	for (i = 0; i < count; i++)
		fill(bt_field_array_borrow_element_field_by_index(field, i));
}

static void fill(bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	char text[16];
	bool has;

	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		fill_members(field);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		fill_elements(field);
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		take_string(text, sizeof(text));
		must(!bt_field_string_set_value(field, text));
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
		bt_field_integer_signed_set_value(field, (s64)take_number());
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		bt_field_real_double_precision_set_value(field, (double)take_number() / 7);
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(field, take() & 1);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		has = take() & 1;
		bt_field_option_set_has_field(field, has);
		if (has)
			fill(bt_field_option_borrow_field(field));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		must(!bt_field_variant_select_option_by_index(field, 0));
		fill(bt_field_variant_borrow_selected_option_field(field));
	} else {
		bt_field_integer_unsigned_set_value(field, take_number());
	}
}

/**
 * struct source - a trace
 * @input: what it takes
 * @trace: the trace
 * @streams: its streams
 * @packets: where each of them is
 * @events: what it has
 * @time: of the last message
 * @begun: how many streams have begun
 * @ended: how many have ended
 */
struct source {
	struct any_bytes *input;
	bt_trace *trace;
	bt_stream *streams[NR_STREAMS];
	bt_packet *packets[NR_STREAMS];
	bt_event_class *events[G_N_ELEMENTS(classes)];
	u64 time;
	u32 begun;
	u32 ended;
};

static bt_stream_class *create_stream_class(bt_trace_class *trace, bt_clock_class *clock, u32 number)
{
	bt_stream_class *class = bt_stream_class_create(trace);
	bt_field_class *structure;

	must(!bt_stream_class_set_default_clock_class(class, clock));
	bt_stream_class_set_supports_packets(class, true, true, true);
	bt_stream_class_set_supports_discarded_events(class, true, true);
	bt_stream_class_set_supports_discarded_packets(class, true, true);
	structure = create_structure(trace, packet_context, G_N_ELEMENTS(packet_context));
	must(!bt_stream_class_set_packet_context_field_class(class, structure));
	bt_field_class_put_ref(structure);
	if (number != EVENTS)
		return class;
	structure = create_structure(trace, context, G_N_ELEMENTS(context));
	must(!bt_stream_class_set_event_common_context_field_class(class, structure));
	bt_field_class_put_ref(structure);
	return class;
}

static void create_event_class(struct source *source, bt_trace_class *trace,
			       bt_stream_class *stream, u32 number)
{
	bt_field_class *structure = create_structure(trace, classes[number].members, MEMBERS);

	source->events[number] = bt_event_class_create(stream);
	must(!bt_event_class_set_name(source->events[number], classes[number].name));
	must(!bt_event_class_set_payload_field_class(source->events[number], structure));
	bt_field_class_put_ref(structure);
}

static bt_component_class_initialize_method_status begin_source(
	bt_self_component_source *self, bt_self_component_source_configuration *config,
	const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	struct source *source = g_new0(struct source, 1);
	bt_trace_class *trace = bt_trace_class_create(component);
	bt_clock_class *clock = bt_clock_class_create(component);
	bt_stream_class *streams[NR_STREAMS];
	u32 i;

	(void)config, (void)params;
	source->input = data;
	input = data;
	must(!bt_self_component_source_add_output_port(self, "out", NULL, NULL));
	source->trace = bt_trace_create(trace);
	for (i = 0; i < NR_STREAMS; i++)
		streams[i] = create_stream_class(trace, clock, i);
	for (i = 0; i < G_N_ELEMENTS(classes); i++)
		create_event_class(source, trace, streams[i < NR_MAPS ? MAPS : EVENTS], i);
	for (i = 0; i < NR_STREAMS; i++) {
		source->streams[i] = bt_stream_create(streams[i], source->trace);
		source->packets[i] = bt_packet_create(source->streams[i]);
		fill(bt_packet_borrow_context_field(source->packets[i]));
		bt_stream_class_put_ref(streams[i]);
	}
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
	for (i = 0; i < NR_STREAMS; i++) {
		bt_packet_put_ref(source->packets[i]);
		bt_stream_put_ref(source->streams[i]);
	}
	bt_trace_put_ref(source->trace);
	g_free(source);
}

static bt_message *create_event(struct source *source, bt_self_message_iterator *self, u32 number)
{
	bt_packet *packet = source->packets[number < NR_MAPS ? MAPS : EVENTS];
	bt_message *message = bt_message_event_create_with_packet_and_default_clock_snapshot(
		self, source->events[number], packet, source->time);
	bt_event *event = bt_message_event_borrow_event(message);

	if (bt_event_borrow_common_context_field(event))
		fill(bt_event_borrow_common_context_field(event));
	fill(bt_event_borrow_payload_field(event));
	return message;
}

/* Return: what is lost in a stream, until now. */
static bt_message *create_loss(struct source *source, bt_self_message_iterator *self, bool packets)
{
	u8 how = take();
	bt_stream *stream = source->streams[how % NR_STREAMS];
	u64 begin = source->time - MIN(source->time, how / 8);
	bt_message *message;

	if (packets) {
		message = bt_message_discarded_packets_create_with_default_clock_snapshots(
			self, stream, begin, source->time);
		if (how & 2)
			bt_message_discarded_packets_set_count(message, how / 4 + 1);
	} else {
		message = bt_message_discarded_events_create_with_default_clock_snapshots(
			self, stream, begin, source->time);
		if (how & 2)
			bt_message_discarded_events_set_count(message, how / 4 + 1);
	}
	return message;
}

static bt_message *create_message(struct source *source, bt_self_message_iterator *self)
{
	bool packet = source->begun & 1;
	u32 step;

	if (source->begun < 2 * NR_STREAMS) {
		u32 i = source->begun++ / 2;

		return packet ? bt_message_packet_beginning_create_with_default_clock_snapshot(
					self, source->packets[i], 0) :
				bt_message_stream_beginning_create(self, source->streams[i]);
	}
	step = take();
	if (input->at < input->end) {
		source->time += step / NR_STEPS;
		step %= NR_STEPS;
		if (step < LOST_EVENTS)
			return create_event(source, self, step);
		return step == QUIET ? bt_message_message_iterator_inactivity_create(
					       self, bt_stream_class_borrow_default_clock_class_const(
							     bt_stream_borrow_class_const(
								     source->streams[0])),
					       source->time) :
				       create_loss(source, self, step == LOST_PACKETS);
	}
	packet = source->ended & 1;
	if (source->ended < 2 * NR_STREAMS) {
		u32 i = source->ended++ / 2;

		return packet ? bt_message_stream_end_create(self, source->streams[i]) :
				bt_message_packet_end_create_with_default_clock_snapshot(
					self, source->packets[i], source->time);
	}
	return NULL;
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *self,
							 bt_message_array_const messages,
							 uint64_t capacity, uint64_t *count)
{
	struct source *source = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));

	input = source->input;
	for (*count = 0; *count < capacity; ++*count) {
		messages[*count] = create_message(source, self);
		if (!messages[*count])
			break;
	}
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
			BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
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

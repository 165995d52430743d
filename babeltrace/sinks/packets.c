// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets of a trace for Perfetto. */
#include "gzip.h"
#include "interned.h"
#include "packets.h"
#include "resolved_stack.h"
#include "safe.h"

/* All packets are of one sequence. */
#define SEQUENCE	1
/* As many bytes are compressed at once. */
#define BATCH		65536

#define FLAG(name)	PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_##name
#define TYPE(name)	PERFETTO__TRACK_EVENT__TYPE__TYPE_##name
#define CLOCK(name)	PERFETTO__CLOCK_SNAPSHOT__CLOCK__BUILTIN_CLOCKS__##name

struct arg {
	const char *name;
	char *text;
};

/**
 * struct kr_packets - a trace
 * @gzip: where it goes
 * @batch: packets that were not compressed yet
 * @ended: nothing follows
 * @any: there are packets
 * @has_stacks: an event had one
 * @begin: what times are counted from
 * @nr_tracks: how many there are
 * @interned: names and callstacks
 * @text: scratch
 */
struct kr_packets {
	struct kr_gzip gzip;
	GByteArray *batch;
	bool ended;
	bool any;
	bool has_stacks;
	int64_t begin;
	uint64_t nr_tracks;
	struct kr_interned *interned;
	GString *text;
};

static void free_text(gpointer arg)
{
	g_free(((struct arg *)arg)->text);
}

GArray *kr_args_new(void)
{
	GArray *args = g_array_new(FALSE, FALSE, sizeof(struct arg));

	g_array_set_clear_func(args, free_text);
	return args;
}

void kr_args_add(GArray *args, const char *name, const char *text)
{
	struct arg arg = { .name = name, .text = g_strdup(text) };

	g_array_append_val(args, arg);
}

static void compress_batch(struct kr_packets *packets)
{
	ProtobufCBuffer *buffer = &packets->gzip.buffer;

	if (packets->batch->len)
		buffer->append(buffer, packets->batch->len, packets->batch->data);
	g_byte_array_set_size(packets->batch, 0);
}

static void write_packet(struct kr_packets *packets, Perfetto__TracePacket *packet)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	guint had = packets->batch->len;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = true;
	packet->sequence_flags = FLAG(NEEDS_INCREMENTAL_STATE);
	if (!packets->any)
		packet->sequence_flags |= FLAG(INCREMENTAL_STATE_CLEARED);
	packets->any = true;
	trace.n_packet = 1;
	trace.packet = &packet;
	g_byte_array_set_size(packets->batch,
			      had + protobuf_c_message_get_packed_size(&trace.base));
	protobuf_c_message_pack(&trace.base, packets->batch->data + had);
	if (packets->batch->len >= BATCH)
		compress_batch(packets);
}

static void write_data(void *data, Perfetto__InternedData *part)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = part;
	write_packet(data, &packet);
}

struct kr_packets *kr_packets_new(void)
{
	struct kr_packets *packets = g_new0(struct kr_packets, 1);

	kr_gzip_begin(&packets->gzip);
	packets->batch = g_byte_array_new();
	packets->interned = kr_interned_new(write_data, packets);
	packets->text = g_string_new(NULL);
	return packets;
}

void kr_packets_free(struct kr_packets *packets)
{
	g_string_free(kr_packets_end(packets), TRUE);
	g_byte_array_unref(packets->batch);
	kr_interned_free(packets->interned);
	g_string_free(packets->text, TRUE);
	g_free(packets);
}

uint32_t kr_packets_stack(struct kr_packets *packets, const bt_event *event)
{
	struct kr_stack stack;

	if (!kr_stack_of_event(event, &stack))
		return 0;
	packets->has_stacks = true;
	return kr_interned_stack(packets->interned, &stack);
}

bool kr_packets_have_stacks(const struct kr_packets *packets)
{
	return packets->has_stacks;
}

static uint64_t time_of(const struct kr_packets *packets, int64_t time)
{
	return time > packets->begin ? (uint64_t)time - (uint64_t)packets->begin : 0;
}

/* Times are those of a clock that starts with the trace; what day it was is said once. */
void kr_packets_begin(struct kr_packets *packets, int64_t begin)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[2], *list[2] = { &clocks[0], &clocks[1] };
	int i;

	packets->begin = begin;
	if (begin <= 0)
		return;
	for (i = 0; i < 2; i++) {
		perfetto__clock_snapshot__clock__init(&clocks[i]);
		clocks[i].has_clock_id = true;
		clocks[i].clock_id = i ? CLOCK(REALTIME) : CLOCK(BOOTTIME);
		clocks[i].has_timestamp = true;
		clocks[i].timestamp = i ? (uint64_t)begin : 0;
	}
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	packet.has_timestamp = true;
	write_packet(packets, &packet);
}

uint64_t kr_packets_track(struct kr_packets *packets)
{
	return ++packets->nr_tracks;
}

static void write_event(struct kr_packets *packets, Perfetto__TrackEvent *event,
			uint64_t time)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.has_timestamp = true;
	packet.timestamp = time;
	packet.track_event = event;
	write_packet(packets, &packet);
}

void kr_packets_append(struct kr_packets *packets, const struct kr_drawn *drawn)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t category = kr_interned_name(packets->interned, KR_CATEGORIES,
					     drawn->category);
	uint64_t begin = time_of(packets, drawn->begin);
	guint nr_args = drawn->args ? drawn->args->len : 0, i;
	Perfetto__DebugAnnotation *args = g_new(Perfetto__DebugAnnotation, nr_args);
	Perfetto__DebugAnnotation **pointers = g_new(Perfetto__DebugAnnotation *, nr_args);

	for (i = 0; i < nr_args; i++) {
		const struct arg *arg = &g_array_index(drawn->args, struct arg, i);

		perfetto__debug_annotation__init(&args[i]);
		args[i].has_name_iid = true;
		args[i].name_iid = kr_interned_name(packets->interned, KR_ARG_NAMES,
						    arg->name);
		args[i].string_value = arg->text;
		pointers[i] = &args[i];
	}
	event.has_track_uuid = true;
	event.track_uuid = drawn->track;
	event.has_type = true;
	event.type = drawn->phase == KR_INSTANT ? TYPE(INSTANT) : TYPE(SLICE_BEGIN);
	event.has_name_iid = true;
	event.name_iid = kr_interned_name(packets->interned, KR_EVENT_NAMES, drawn->name);
	event.n_category_iids = 1;
	event.category_iids = &category;
	event.has_callstack_iid = drawn->stack != 0;
	event.callstack_iid = drawn->stack;
	event.n_debug_annotations = nr_args;
	event.debug_annotations = pointers;
	write_event(packets, &event, begin);
	g_free(pointers);
	g_free(args);
	if (drawn->phase != KR_SLICE)
		return;
	perfetto__track_event__init(&event);
	event.has_track_uuid = true;
	event.track_uuid = drawn->track;
	event.has_type = true;
	event.type = TYPE(SLICE_END);
	write_event(packets, &event, MAX(begin, time_of(packets, drawn->end)));
}

static void write_track(struct kr_packets *packets, Perfetto__TrackDescriptor *descriptor,
			uint64_t track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	descriptor->has_uuid = true;
	descriptor->uuid = track;
	packet.track_descriptor = descriptor;
	write_packet(packets, &packet);
}

static char *safe(struct kr_packets *packets, const char *name)
{
	g_string_truncate(packets->text, 0);
	kr_safe_append(packets->text, name);
	return packets->text->str;
}

void kr_packets_process(struct kr_packets *packets, uint64_t track, uint64_t pid,
			const char *name)
{
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;

	process.has_pid = true;
	process.pid = (int32_t)pid;
	process.process_name = safe(packets, name);
	descriptor.process = &process;
	write_track(packets, &descriptor, track);
}

void kr_packets_thread(struct kr_packets *packets, uint64_t track, uint64_t pid,
		       uint64_t tid, const char *name)
{
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;

	thread.has_pid = true;
	thread.pid = (int32_t)pid;
	thread.has_tid = true;
	thread.tid = (int64_t)tid;
	thread.thread_name = safe(packets, name);
	descriptor.thread = &thread;
	write_track(packets, &descriptor, track);
}

void kr_packets_other(struct kr_packets *packets, uint64_t track, uint64_t parent,
		      const char *name, uint64_t rank)
{
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;

	descriptor.name = safe(packets, name);
	descriptor.has_parent_uuid = parent != 0;
	descriptor.parent_uuid = parent;
	descriptor.has_child_ordering = true;
	descriptor.child_ordering =
		PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
	descriptor.has_sibling_order_rank = true;
	descriptor.sibling_order_rank = (int32_t)rank;
	write_track(packets, &descriptor, track);
}

GString *kr_packets_so_far(struct kr_packets *packets)
{
	return packets->gzip.out;
}

GString *kr_packets_end(struct kr_packets *packets)
{
	if (!packets->ended) {
		compress_batch(packets);
		kr_gzip_end(&packets->gzip);
	}
	packets->ended = true;
	return packets->gzip.out;
}

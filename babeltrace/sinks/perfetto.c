// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sink.kunwind.perfetto: a picture over time. Each thread has a track with its system
 * calls, and one with the times when it did not run; each CPU has one with the threads
 * that ran on it.
 *
 * What begins in the trace and does not end in it has no end in the picture, and what
 * began before events were lost is no more than an instant: how long it lasted is not
 * known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "arguments.h"
#include "event.h"
#include "format.h"
#include "packets.h"
#include "perfetto.h"
#include "sink.h"
#include "switches.h"
#include "track.h"

#define MAX_CPUS	1000000

/**
 * struct perfetto - the component
 * @sink: what all sinks have
 * @packets: the picture
 * @notes: its track of what is missing, or 0
 * @tracks: what is in it
 * @switches: of CPUs
 * @now: when the last event was, in nanoseconds
 * @begun: whether there was one
 * @args: scratch
 */
struct perfetto {
	struct kr_sink sink;
	struct kr_packets *packets;
	uint64_t notes;
	struct kr_tracks tracks;
	int64_t now;
	bool begun;
	GArray *args;
};

/* Return: the CPU of an event, or -1. */
static int64_t cpu_of(const bt_event *event)
{
	const bt_packet *packet = NULL;
	const bt_field *context = NULL, *cpu = NULL;
	uint64_t number;

	if (bt_stream_class_supports_packets(bt_stream_borrow_class_const(
			bt_event_borrow_stream_const(event))))
		packet = bt_event_borrow_packet_const(event);
	if (packet)
		context = bt_packet_borrow_context_field_const(packet);
	if (context)
		cpu = bt_field_structure_borrow_member_field_by_name_const(context,
									   "cpu_id");
	if (!cpu || !bt_field_class_type_is(bt_field_get_class_type(cpu),
					    BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return -1;
	number = bt_field_integer_unsigned_get_value(cpu);
	return number < MAX_CPUS ? (int64_t)number : -1;
}

static void append_members(GArray *args, const char *name, const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const char *call = bt_event_class_get_name(bt_event_borrow_class_const(event));
	GString *text;

	if (!payload)
		return;
	text = g_string_new(NULL);
	if (kr_call_of(&call))
		kr_format_arguments(text, call, payload, NULL);
	else
		kr_format_members(text, payload);
	if (text->len)
		kr_args_add(args, name, text->str);
	g_string_free(text, TRUE);
}

static void append_result(GArray *args, const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *result = payload ?
		bt_field_structure_borrow_member_field_by_name_const(payload, "ret") : NULL;
	GString *text = g_string_new(NULL);

	if (result && bt_field_class_type_is(bt_field_get_class_type(result),
					     BT_FIELD_CLASS_TYPE_INTEGER)) {
		kr_format_result(text, result, kr_colors(false));
		kr_args_add(args, "result", text->str);
	}
	append_members(args, "output", event);
	g_string_free(text, TRUE);
}

/* Something that does not last. */
static void show_instant(struct perfetto *perfetto, const struct kr_track *track,
			 const struct kr_event *event, const char *name,
			 const char *category, GArray *args)
{
	struct kr_drawn drawn = {
		.phase = KR_INSTANT, .name = name, .category = category,
		.begin = event->time, .track = track->number,
		.stack = kr_packets_stack(perfetto->packets, event->event), .args = args,
	};

	kr_packets_append(perfetto->packets, &drawn);
}

static void enter(struct perfetto *perfetto, struct kr_track *track,
		  const struct kr_event *event)
{
	const struct kr_tracks *tracks = &perfetto->tracks;
	struct kr_activity *call = &track->call;

	kr_activity_cut(tracks, track, call, "not in the trace");
	kr_activity_begin(tracks, call, event->name, "syscall", event->time);
	append_members(call->args, "arguments", event->event);
	call->stack = kr_packets_stack(perfetto->packets, event->event);
	if (!strcmp(event->name, "exit") || !strcmp(event->name, "exit_group"))
		kr_activity_cut(tracks, track, call, NULL);
}

static void leave(struct perfetto *perfetto, struct kr_track *track,
		  const struct kr_event *event)
{
	struct kr_activity *call = &track->call;
	char *name;

	if (call->name && !strcmp(call->name, event->name)) {
		append_result(call->args, event->event);
		kr_activity_end(&perfetto->tracks, track, call, event->time);
		return;
	}
	kr_activity_cut(&perfetto->tracks, track, call, "not in the trace");
	append_result(perfetto->args, event->event);
	name = g_strdup_printf("%s (exit)", event->name);
	show_instant(perfetto, track, event, name, "syscall", perfetto->args);
	g_free(name);
}

static void show_event(struct perfetto *perfetto, const struct kr_event *event)
{
	int64_t cpu = cpu_of(event->event);
	struct kr_track *track;

	g_array_set_size(perfetto->args, 0);
	if (!strcmp(event->name, "sched_switch") && cpu >= 0) {
		kr_switch(&perfetto->tracks, event, cpu);
		return;
	}
	if (event->task.tid > 0)
		track = kr_track_of_event(&perfetto->tracks, event);
	else
		track = kr_track_of_cpu(&perfetto->tracks, event->thread.trace,
					cpu, KR_NOBODY);
	if (event->half == KR_ENTRY && event->task.tid > 0) {
		enter(perfetto, track, event);
	} else if (event->half == KR_EXIT && event->task.tid > 0) {
		leave(perfetto, track, event);
	} else {
		append_members(perfetto->args, "fields", event->event);
		show_instant(perfetto, track, event, event->name, "event",
			     perfetto->args);
	}
}

static void show_loss(struct perfetto *perfetto, const struct kr_loss *loss)
{
	const struct kr_track *track = kr_track_of_loss(&perfetto->tracks, loss);
	const char *what = loss->packets ? "packets of events" : "events";
	char *name = loss->count ?
		     g_strdup_printf("%" PRIu64 " %s lost", loss->count, what) :
		     g_strdup_printf("%s lost", what);
	struct kr_drawn drawn = {
		.phase = loss->timed ? KR_SLICE : KR_INSTANT, .name = name,
		.category = "lost", .begin = loss->timed ? loss->begin : perfetto->now,
		.end = loss->end, .track = track->number,
	};

	kr_losses_add(&perfetto->tracks.losses, loss);
	kr_packets_append(perfetto->packets, &drawn);
	g_free(name);
}

static void take_message(struct kr_sink *sink, const bt_message *message)
{
	struct perfetto *perfetto = (struct perfetto *)sink;
	struct kr_event event;
	struct kr_loss loss;
	bool is_loss = kr_loss_of_message(message, &loss);

	kr_losses_take_dump(&perfetto->tracks.losses, message);
	if (!is_loss && !kr_event_of_message(message, &event))
		return;
	if (!is_loss || loss.timed) {
		perfetto->now = is_loss ? loss.begin : event.time;
		if (!perfetto->begun)
			kr_packets_begin(perfetto->packets, perfetto->now);
		perfetto->begun = true;
	}
	if (is_loss)
		show_loss(perfetto, &loss);
	else
		show_event(perfetto, &event);
}

/* What is missing from the picture, as an event of it at its end. */
static void say(struct perfetto *perfetto, const char *note)
{
	struct kr_drawn drawn = {
		.phase = KR_INSTANT, .name = note, .category = "note",
		.begin = perfetto->now, .track = perfetto->notes,
	};

	if (!drawn.track) {
		drawn.track = perfetto->notes = kr_packets_track(perfetto->packets);
		kr_packets_other(perfetto->packets, drawn.track, 0, "what is missing", 0);
	}
	fprintf(stderr, "kunwind: warning: %s\n", note);
	kr_packets_append(perfetto->packets, &drawn);
}

static GString *end_picture(struct perfetto *perfetto, enum kr_so_far so_far)
{
	kr_tracks_end(&perfetto->tracks);
	if (so_far == KR_CUT)
		say(perfetto, kr_sink_is_cut);
	if (g_hash_table_size(perfetto->tracks.tracks) && !kr_packets_have_stacks(perfetto->packets))
		say(perfetto, kr_sink_no_stacks);
	return kr_packets_end(perfetto->packets);
}

static bool write_picture(struct kr_sink *sink, enum kr_so_far so_far)
{
	struct perfetto *perfetto = (struct perfetto *)sink;

	return kr_output_write(&sink->output, so_far == KR_SOME ?
			       kr_packets_so_far(perfetto->packets) :
			       end_picture(perfetto, so_far));
}

static void free_perfetto(struct kr_sink *sink)
{
	struct perfetto *perfetto = (struct perfetto *)sink;

	kr_tracks_destroy(&perfetto->tracks);
	kr_packets_free(perfetto->packets);
	g_array_unref(perfetto->args);
	g_free(perfetto);
}

bt_component_class_initialize_method_status kr_perfetto_init(
	bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data)
{
	static const char *const names[] = { "path", NULL };
	static const struct kr_sink_ops ops = {
		.message = take_message, .write = write_picture,
		.free = free_perfetto,
	};
	struct perfetto *perfetto = g_new0(struct perfetto, 1);

	(void)config;
	(void)data;
	perfetto->args = kr_args_new();
	perfetto->packets = kr_packets_new();
	kr_tracks_init(&perfetto->tracks, perfetto->packets);
	return kr_sink_init(&perfetto->sink, &ops, self, params, names, NULL);
}

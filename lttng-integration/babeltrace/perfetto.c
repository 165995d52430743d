// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sink.kunwind.perfetto: a picture over time. Each thread has a track with its system
 * calls, and within them and between them the times when it did not run; each CPU has
 * one with the threads that ran on it.
 *
 * What begins in the trace and does not end in it has no end in the picture, and what
 * began before events were lost is no more than an instant: how long it lasted is not
 * known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "chrome.h"
#include "event.h"
#include "format.h"
#include "json.h"
#include "perfetto.h"
#include "sink.h"
#include "stack.h"

/* Processes of another machine get other numbers; Linux has none above 2^22. */
#define MACHINE_PIDS	10000000
/* Processes of the picture that are none. */
#define CPUS		5000000
#define LOSSES		6000000
#define NOBODY		7000000
#define MAX_CPUS	1000000

/* Bits of prev_state: EXIT_DEAD, EXIT_ZOMBIE. */
#define STATE_EXIT	0x30

/**
 * struct activity - something that has begun
 * @name: what; NULL: nothing
 * @category: of it
 * @args: members of a JSON object
 * @begin: when, in nanoseconds
 * @mark: of struct kr_losses
 * @stack: of kr_chrome_stack(), or 0
 */
struct activity {
	char *name;
	const char *category;
	GString *args;
	int64_t begin;
	uint64_t mark;
	uint32_t stack;
};

/**
 * struct machine - where a trace was recorded
 * @name: of it
 * @base: is added to the numbers of its processes and threads
 * @has_losses: some of its events were lost
 */
struct machine {
	char *name;
	uint64_t base;
	bool has_losses;
};

/**
 * struct track - a thread or a CPU
 * @key: its number within its trace; that of a CPU is negative
 * @machine: on which it runs
 * @pid: its process in the picture
 * @tid: its number there
 * @name: how it is called now
 * @call: the system call that it is in
 * @state: why the thread does not run, or what runs on the CPU
 */
struct track {
	struct kr_thread key;
	const struct machine *machine;
	uint64_t pid;
	uint64_t tid;
	char *name;
	struct activity call;
	struct activity state;
};

/**
 * struct perfetto - the component
 * @sink: what all sinks have
 * @out: what is to be written
 * @chrome: the picture
 * @machines: struct machine by name
 * @tracks: struct track by struct kr_thread
 * @losses: what was lost so far
 * @now: when the last event was, in nanoseconds
 * @begun: whether there was one
 * @has_stacks: whether any event had one
 * @args: scratch
 */
struct perfetto {
	struct kr_sink sink;
	GString *out;
	struct kr_chrome *chrome;
	GHashTable *machines;
	GHashTable *tracks;
	struct kr_losses losses;
	int64_t now;
	bool begun;
	bool has_stacks;
	GString *args;
};

static void clear(struct activity *activity)
{
	g_free(activity->name);
	if (activity->args)
		g_string_free(activity->args, TRUE);
	memset(activity, 0, sizeof(*activity));
}

static void free_track(gpointer data)
{
	struct track *track = data;

	clear(&track->call);
	clear(&track->state);
	g_free(track->name);
	g_free(track);
}

static void free_machine(gpointer data)
{
	struct machine *machine = data;

	g_free(machine->name);
	g_free(machine);
}

static struct machine *machine_of(struct perfetto *perfetto, const bt_trace *trace)
{
	const char *name = kr_machine(trace);
	struct machine *machine = g_hash_table_lookup(perfetto->machines, name);

	if (!machine) {
		machine = g_new0(struct machine, 1);
		machine->name = g_strdup(name);
		machine->base = (uint64_t)MACHINE_PIDS *
				g_hash_table_size(perfetto->machines);
		g_hash_table_insert(perfetto->machines, machine->name, machine);
	}
	return machine;
}

static struct track *track_of(struct perfetto *perfetto, struct kr_thread key)
{
	struct track *track = g_hash_table_lookup(perfetto->tracks, &key);

	if (!track) {
		track = g_new0(struct track, 1);
		track->key = key;
		track->machine = machine_of(perfetto, key.trace);
		g_hash_table_add(perfetto->tracks, track);
	}
	return track;
}

static void set_name(struct track *track, const char *name)
{
	if (name[0] && g_strcmp0(track->name, name)) {
		g_free(track->name);
		track->name = g_strdup(name);
	}
}

static struct track *thread_of(struct perfetto *perfetto,
			       const struct kr_event *event)
{
	struct track *track = track_of(perfetto, event->thread);

	track->tid = track->machine->base + event->task.tid;
	track->pid = track->machine->base +
		     (event->task.pid < 0 ? NOBODY : event->task.pid);
	set_name(track, event->task.procname);
	return track;
}

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

static struct track *cpu_track(struct perfetto *perfetto, const bt_trace *trace,
			       int64_t cpu, int64_t process)
{
	struct kr_thread key = { .trace = trace, .tid = -1 - process - cpu };
	struct track *track = track_of(perfetto, key);

	track->pid = track->machine->base + process;
	track->tid = track->pid + 1 + cpu;
	if (!track->name)
		track->name = cpu < 0 ? g_strdup("some CPU") :
				g_strdup_printf("CPU %" PRId64, cpu);
	return track;
}

static void append_arg(GString *args, const char *name, const char *value)
{
	if (args->len)
		g_string_append_c(args, ',');
	kr_json_append(args, name);
	g_string_append_c(args, ':');
	kr_json_append(args, value);
}

static void append_members(GString *args, const char *name, const bt_event *event,
			   const char *but)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	GString *text;

	if (!payload)
		return;
	text = g_string_new(NULL);
	kr_format_members(text, payload, but);
	if (text->len)
		append_arg(args, name, text->str);
	g_string_free(text, TRUE);
}

static const bt_field *payload_member(const bt_event *event, const char *name,
				      bt_field_class_type type)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *member = NULL;

	if (payload)
		member = bt_field_structure_borrow_member_field_by_name_const(payload,
									      name);
	if (!member ||
	    !bt_field_class_type_is(bt_field_get_class_type(member), type))
		return NULL;
	return member;
}

static void append_result(GString *args, const bt_event *event)
{
	const bt_field *result = payload_member(event, "ret",
						BT_FIELD_CLASS_TYPE_INTEGER);
	GString *text = g_string_new(NULL);

	if (result) {
		kr_format_result(text, result, kr_colors(false));
		append_arg(args, "result", text->str);
	}
	append_members(args, "output", event, "ret");
	g_string_free(text, TRUE);
}

static uint32_t stack_of(struct perfetto *perfetto, const bt_event *event)
{
	struct kr_stack stack;

	if (!kr_stack_of_event(event, &stack))
		return 0;
	perfetto->has_stacks = true;
	return kr_chrome_stack(perfetto->chrome, &stack);
}

static void begin(struct perfetto *perfetto, struct activity *activity,
		  const char *name, const char *category, int64_t now)
{
	activity->name = g_strdup(name);
	activity->category = category;
	activity->args = g_string_new(NULL);
	activity->begin = now;
	activity->mark = kr_losses_mark(&perfetto->losses, now);
}

static void draw(struct perfetto *perfetto, const struct track *track,
		 const struct activity *activity, enum kr_phase phase, int64_t end)
{
	struct kr_chrome_event drawn = {
		.phase = phase, .name = activity->name,
		.category = activity->category, .begin = activity->begin,
		.end = end, .pid = track->pid, .tid = track->tid,
		.stack = activity->stack, .args = activity->args->str,
	};

	kr_chrome_append(perfetto->chrome, &drawn);
}

/* Only that it began is known. */
static void forget(struct perfetto *perfetto, const struct track *track,
		   struct activity *activity, const char *why)
{
	if (!activity->name)
		return;
	append_arg(activity->args, "end", why);
	draw(perfetto, track, activity, KR_INSTANT, 0);
	clear(activity);
}

static void end(struct perfetto *perfetto, const struct track *track,
		struct activity *activity, int64_t now)
{
	if (!activity->name)
		return;
	if (kr_losses_since(&perfetto->losses, activity->mark)) {
		forget(perfetto, track, activity,
		       "not known: events were lost meanwhile");
		return;
	}
	draw(perfetto, track, activity, KR_SLICE, now);
	clear(activity);
}

/* Something that does not last. */
static void show_instant(struct perfetto *perfetto, const struct track *track,
			 const struct kr_event *event, const char *name,
			 const char *category, const char *args)
{
	struct kr_chrome_event drawn = {
		.phase = KR_INSTANT, .name = name, .category = category,
		.begin = event->time, .pid = track->pid, .tid = track->tid,
		.stack = stack_of(perfetto, event->event), .args = args,
	};

	kr_chrome_append(perfetto->chrome, &drawn);
}

static void enter(struct perfetto *perfetto, struct track *track,
		  const struct kr_event *event)
{
	struct activity *call = &track->call;

	forget(perfetto, track, call, "not in the trace");
	begin(perfetto, call, event->name, "syscall", event->time);
	append_members(call->args, "arguments", event->event, NULL);
	call->stack = stack_of(perfetto, event->event);
	if (!strcmp(event->name, "exit") || !strcmp(event->name, "exit_group")) {
		draw(perfetto, track, call, KR_INSTANT, 0);
		clear(call);
	}
}

static void leave(struct perfetto *perfetto, struct track *track,
		  const struct kr_event *event)
{
	struct activity *call = &track->call;
	char *name;

	if (call->name && !strcmp(call->name, event->name)) {
		append_result(call->args, event->event);
		end(perfetto, track, call, event->time);
		return;
	}
	forget(perfetto, track, call, "not in the trace");
	append_result(perfetto->args, event->event);
	name = g_strdup_printf("%s (exit)", event->name);
	show_instant(perfetto, track, event, name, "syscall", perfetto->args->str);
	g_free(name);
}

static int64_t payload_number(const bt_event *event, const char *name)
{
	const bt_field *field = payload_member(event, name,
					       BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);

	return field ? bt_field_integer_signed_get_value(field) : -1;
}

static const char *payload_string(const bt_event *event, const char *name)
{
	const bt_field *field = payload_member(event, name,
					       BT_FIELD_CLASS_TYPE_STRING);

	return field ? bt_field_string_get_value(field) : "";
}

/* A thread leaves a CPU. */
static void switch_out(struct perfetto *perfetto, const struct kr_event *event,
		       int64_t tid)
{
	static const char *const states[] = {
		"runnable", "sleeping", "sleeping, not interruptible",
	};
	struct kr_thread key = { .trace = event->thread.trace, .tid = tid };
	int64_t state = payload_number(event->event, "prev_state");
	struct track *track;
	char number[32];

	if (event->task.tid == tid)
		track = thread_of(perfetto, event);
	else
		track = g_hash_table_lookup(perfetto->tracks, &key);
	if (!track)
		return;
	forget(perfetto, track, &track->state, "not in the trace");
	/* It does not run again. */
	if (state >= 0 && state & STATE_EXIT)
		return;
	begin(perfetto, &track->state, "off CPU", "sched", event->time);
	if (event->task.tid == tid)
		track->state.stack = stack_of(perfetto, event->event);
	g_snprintf(number, sizeof(number), "%" PRId64, state);
	append_arg(track->state.args, "state",
		   state >= 0 && state < (int64_t)G_N_ELEMENTS(states) ?
		   states[state] : number);
}

static void switch_threads(struct perfetto *perfetto, const struct kr_event *event,
			   int64_t number)
{
	int64_t prev = payload_number(event->event, "prev_tid");
	int64_t next = payload_number(event->event, "next_tid");
	const char *comm = payload_string(event->event, "next_comm");
	struct kr_thread key = { .trace = event->thread.trace, .tid = next };
	struct track *cpu = cpu_track(perfetto, key.trace, number, CPUS), *thread;

	end(perfetto, cpu, &cpu->state, event->time);
	/* Number 0 is a CPU that is idle. */
	if (prev > 0)
		switch_out(perfetto, event, prev);
	if (next <= 0)
		return;
	thread = g_hash_table_lookup(perfetto->tracks, &key);
	if (thread) {
		end(perfetto, thread, &thread->state, event->time);
		set_name(thread, comm);
	}
	begin(perfetto, &cpu->state, comm, "sched", event->time);
	g_string_printf(perfetto->args, "%" PRId64, next);
	append_arg(cpu->state.args, "tid", perfetto->args->str);
}

static void show_event(struct perfetto *perfetto, const struct kr_event *event)
{
	int64_t cpu = cpu_of(event->event);
	struct track *track;

	g_string_truncate(perfetto->args, 0);
	if (!strcmp(event->name, "sched_switch") && cpu >= 0) {
		switch_threads(perfetto, event, cpu);
		return;
	}
	if (event->task.tid > 0)
		track = thread_of(perfetto, event);
	else
		track = cpu_track(perfetto, event->thread.trace, cpu, NOBODY);
	if (event->half == KR_ENTRY && event->task.tid > 0) {
		enter(perfetto, track, event);
	} else if (event->half == KR_EXIT && event->task.tid > 0) {
		leave(perfetto, track, event);
	} else {
		append_members(perfetto->args, "fields", event->event, NULL);
		show_instant(perfetto, track, event, event->name, "event",
			     perfetto->args->str);
	}
}

static void show_loss(struct perfetto *perfetto, const struct kr_loss *loss)
{
	struct machine *machine = machine_of(perfetto, loss->trace);
	const char *what = loss->packets ? "packets of events" : "events";
	char *name = loss->count ?
		     g_strdup_printf("%" PRIu64 " %s lost", loss->count, what) :
		     g_strdup_printf("%s lost", what);
	struct kr_chrome_event drawn = {
		.phase = loss->timed ? KR_SLICE : KR_INSTANT, .name = name,
		.category = "lost", .begin = loss->timed ? loss->begin : perfetto->now,
		.end = loss->end, .pid = machine->base + LOSSES,
		.tid = machine->base + LOSSES + 1 + loss->stream,
	};

	machine->has_losses = true;
	kr_losses_add(&perfetto->losses, loss);
	kr_chrome_append(perfetto->chrome, &drawn);
	g_free(name);
}

static void take_message(struct kr_sink *sink, const bt_message *message)
{
	struct perfetto *perfetto = (struct perfetto *)sink;
	struct kr_event event;
	struct kr_loss loss;
	bool is_loss = kr_loss_of_message(message, &loss);

	if (!is_loss && !kr_event_of_message(message, &event))
		return;
	if (!is_loss || loss.timed)
		perfetto->now = is_loss ? loss.begin : event.time;
	if (!perfetto->begun)
		kr_chrome_begin(perfetto->chrome, perfetto->now);
	perfetto->begun = true;
	if (is_loss)
		show_loss(perfetto, &loss);
	else
		show_event(perfetto, &event);
}

static gint compare_tracks(gconstpointer a, gconstpointer b)
{
	const struct track *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* What has not ended in the trace. */
static void leave_open(struct perfetto *perfetto, const struct track *track,
		       struct activity *activity)
{
	if (activity->name && kr_losses_since(&perfetto->losses, activity->mark))
		end(perfetto, track, activity, 0);
	else if (activity->name)
		draw(perfetto, track, activity, KR_OPEN_SLICE, 0);
	clear(activity);
}

static void name_process(struct perfetto *perfetto, const struct machine *machine,
			 uint64_t pid, const char *name)
{
	bool several = g_hash_table_size(perfetto->machines) > 1;
	char *full = g_strdup_printf("%s%s%s", several ? machine->name : "",
				     several ? ": " : "", name);

	kr_chrome_name(perfetto->chrome, pid, -1, full);
	g_free(full);
}

/* Name threads, and a process as its first thread is, or as any. */
static void name_tracks(struct perfetto *perfetto, GList *tracks)
{
	const struct track *named = NULL;
	GList *at;

	for (at = tracks; at; at = at->next) {
		const struct track *track = at->data;
		uint64_t process = track->pid - track->machine->base;
		const char *name = process == CPUS ? "CPUs" :
				   process == NOBODY ? "threads unknown" :
				   track->name;

		if (track->name)
			kr_chrome_name(perfetto->chrome, track->pid, track->tid,
				       track->name);
		if (!name || (named && named->pid == track->pid &&
			      track->tid != track->pid))
			continue;
		name_process(perfetto, track->machine, track->pid, name);
		if (process == CPUS && !(named && named->pid == track->pid))
			kr_chrome_sort(perfetto->chrome, track->pid, -1);
		named = track;
	}
}

static void name_losses(struct perfetto *perfetto)
{
	GHashTableIter iter;
	gpointer machine;

	g_hash_table_iter_init(&iter, perfetto->machines);
	while (g_hash_table_iter_next(&iter, NULL, &machine)) {
		const struct machine *of = machine;

		if (!of->has_losses)
			continue;
		name_process(perfetto, of, of->base + LOSSES, "lost events");
		kr_chrome_sort(perfetto->chrome, of->base + LOSSES, -2);
	}
}

/* What is missing from the picture, as an event of it at its end. */
static void say(struct perfetto *perfetto, GPtrArray *notes, const char *note)
{
	struct kr_chrome_event drawn = {
		.phase = KR_GLOBAL_INSTANT, .name = note, .category = "note",
		.begin = perfetto->now, .tid = -1,
	};

	fprintf(stderr, "kunwind: warning: %s\n", note);
	kr_chrome_append(perfetto->chrome, &drawn);
	g_ptr_array_add(notes, (gpointer)note);
}

static void end_picture(struct perfetto *perfetto, enum kr_so_far so_far)
{
	GList *tracks = g_list_sort(g_hash_table_get_values(perfetto->tracks),
				    compare_tracks), *at;
	GPtrArray *notes = g_ptr_array_new();

	for (at = tracks; at; at = at->next) {
		struct track *track = at->data;

		leave_open(perfetto, track, &track->call);
		leave_open(perfetto, track, &track->state);
	}
	name_tracks(perfetto, tracks);
	name_losses(perfetto);
	if (so_far == KR_CUT)
		say(perfetto, notes, kr_sink_is_cut);
	if (tracks && !perfetto->has_stacks)
		say(perfetto, notes, kr_sink_no_stacks);
	kr_chrome_end(perfetto->chrome, notes);
	g_ptr_array_unref(notes);
	g_list_free(tracks);
}

static bool write_picture(struct kr_sink *sink, enum kr_so_far so_far)
{
	struct perfetto *perfetto = (struct perfetto *)sink;

	if (so_far != KR_SOME)
		end_picture(perfetto, so_far);
	return kr_sink_write(sink, perfetto->out);
}

static void free_perfetto(struct kr_sink *sink)
{
	struct perfetto *perfetto = (struct perfetto *)sink;

	g_hash_table_destroy(perfetto->tracks);
	g_hash_table_destroy(perfetto->machines);
	kr_chrome_free(perfetto->chrome);
	g_string_free(perfetto->out, TRUE);
	g_string_free(perfetto->args, TRUE);
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
	perfetto->machines = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
						   free_machine);
	perfetto->tracks = g_hash_table_new_full(kr_hash_thread, kr_equal_threads,
						 NULL, free_track);
	perfetto->out = g_string_new(NULL);
	perfetto->args = g_string_new(NULL);
	perfetto->chrome = kr_chrome_new(perfetto->out);
	return kr_sink_init(&perfetto->sink, &ops, self, params, names, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sink.kunwind.flamegraph: which stacks there are, how many events each has, and how
 * long system calls took from their entry to their exit.
 *
 * A system call is one event, with the stack of its entry; of one whose entry is not
 * in the trace, that of its exit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "difference.h"
#include "event.h"
#include "flamegraph.h"
#include "format.h"
#include "page.h"
#include "pprof.h"
#include "profile.h"
#include "sample.h"
#include "sink.h"
#include "speedscope.h"
#include "summary.h"
#include "timeline.h"
#include "waits.h"
#include "traced_machine.h"
#include "uftrace.h"

#define NO_SAMPLE	UINT32_MAX

enum format {
	FOLDED,
	HTML,
	SUMMARY,
	TOP,
	PPROF,
	SPEEDSCOPE,
	UFTRACE,
};

/**
 * struct flamegraph - the component
 * @sink: what all sinks have
 * @format: enum format
 * @count: enum kr_weight
 * @counted: the user has chosen it
 * @color: enum kr_color
 * @screen: for whom it is written
 * @page: where a page is written, too; or NULL
 * @profile: the stacks
 * @before: those to compare with; or NULL
 * @timeline: when they were; or NULL
 * @machines: where they were recorded
 * @waits: of threads that are off the CPU
 * @calls: struct call of each thread that is in one, by struct kr_thread
 * @threads: struct kr_thread of all
 * @name: scratch
 * @losses: what was lost so far
 * @lost: events that were
 * @lost_packets: packets that were
 * @events: all of them
 * @bare: those without a stack
 * @nobodys: system calls without a thread
 * @endless: those whose exit is not in the trace
 * @unsure: those during which events were lost
 */
struct flamegraph {
	struct kr_sink sink;
	int format;
	int count;
	bool counted;
	int color;
	struct kr_screen screen;
	char *page;
	struct kr_profile *profile;
	struct kr_profile *before;
	struct kr_timeline *timeline;
	struct kr_machines *machines;
	struct kr_waits *waits;
	GHashTable *calls;
	GHashTable *threads;
	GString *name;
	struct kr_losses losses;
	uint64_t lost;
	uint64_t lost_packets;
	uint64_t events;
	uint64_t bare;
	uint64_t nobodys;
	uint64_t endless;
	uint64_t unsure;
};

/**
 * struct call - a system call that was entered
 * @key: whose it is
 * @pid: whose process
 * @name: of the system call
 * @kind: of the profile, if it has a stack
 * @sample: its stack, or NO_SAMPLE
 * @time: of its entry, in nanoseconds
 * @mark: of struct kr_losses
 */
struct call {
	struct kr_thread key;
	int64_t pid;
	char *name;
	uint32_t kind;
	uint32_t sample;
	int64_t time;
	uint64_t mark;
};

static void free_call(gpointer data)
{
	struct call *call = data;

	g_free(call->name);
	g_free(call);
}

static void note_event(struct flamegraph *graph, const struct kr_event *event)
{
	graph->events++;
	if (!g_hash_table_contains(graph->threads, &event->thread))
		g_hash_table_add(graph->threads, g_memdup2(&event->thread,
							   sizeof(event->thread)));
	graph->profile->begin = MIN(graph->profile->begin, event->time);
	graph->profile->end = MAX(graph->profile->end, event->time);
}

static bool names_threads(const struct flamegraph *graph)
{
	return graph->format == HTML || graph->format == PPROF || graph->timeline ||
	       graph->page;
}

/* A stack of a thread was there for a time; of length 0, if nobody knows for how long. */
static void note_span(struct flamegraph *graph, const struct kr_thread *thread,
		      int64_t pid, uint32_t sample, int64_t begin, int64_t end)
{
	struct kr_pair pair;

	if (!graph->timeline || sample == NO_SAMPLE)
		return;
	pair = kr_pairs_get(graph->profile->samples, sample);
	kr_timeline_add(graph->timeline, kr_machine_of(graph->machines, thread->trace), pid,
			thread->tid, &(struct kr_span) {
				.begin = begin, .end = MAX(begin, end),
				.kind = pair.a, .node = pair.b,
			});
}

/* Count a stack of a thread. Return: its sample, and its kind. */
static uint32_t count_stack(struct flamegraph *graph, const struct kr_task *task,
			    const bt_trace *trace, const char *name, uint32_t node,
			    uint32_t *kind)
{
	char number[32];
	const char *process = task->procname;
	uint32_t sample;

	if (!process[0] && task->pid >= 0) {
		g_snprintf(number, sizeof(number), "%" PRId64, task->pid);
		process = number;
	}
	g_string_assign(graph->name, process[0] ? process : "[unknown]");
	/* What shows one thread reads its number from here. */
	if (names_threads(graph) && task->tid >= 0)
		g_string_append_printf(graph->name, " [%" PRId64 "]", task->tid);
	*kind = kr_profile_kind(graph->profile, graph->name->str,
				kr_machine_of(graph->machines, trace)->name, name);
	sample = kr_profile_sample(graph->profile, *kind, node);
	kr_profile_add(graph->profile, sample, KR_EVENTS, 1);
	return sample;
}

/* Return: the sample of an event, which is counted, and its kind. */
static uint32_t count_event(struct flamegraph *graph, const struct kr_event *event,
			    uint32_t *kind)
{
	struct kr_stack stack;

	note_event(graph, event);
	*kind = 0;
	if (!kr_stack_of_event(event->event, &stack)) {
		graph->bare++;
		return NO_SAMPLE;
	}
	return count_stack(graph, &event->task, event->thread.trace, event->name,
			   kr_profile_node(graph->profile, &stack), kind);
}

/* A sample is of a thread that is on the CPU; as waits do, it counts time as well. */
static void count_other(struct flamegraph *graph, const struct kr_event *event)
{
	struct kr_event on_cpu = *event;
	struct kr_sample of;
	uint32_t kind, sample;

	if (!kr_sample_of_event(event->event, &of)) {
		sample = count_event(graph, event, &kind);
		note_span(graph, &event->thread, event->task.pid, sample, event->time,
			  event->time);
		return;
	}
	on_cpu.name = "on-CPU";
	sample = count_event(graph, &on_cpu, &kind);
	if (sample != NO_SAMPLE)
		kr_profile_add(graph->profile, sample, KR_NS, of.period);
	note_span(graph, &event->thread, event->task.pid, sample,
		  event->time - of.period, event->time);
}

/* A wait that is over, or whose end is not in the trace. */
static void count_wait(void *data, const struct kr_wait *wait, int64_t end)
{
	struct flamegraph *graph = data;
	uint64_t ns = end > wait->begin ? (uint64_t)end - (uint64_t)wait->begin : 0;
	uint32_t kind, sample;
	char *name;

	if (end == KR_NO_END)
		name = g_strdup("sched_switch");
	else if (wait->waker[0])
		name = g_strdup_printf("off-CPU, woken by %s", wait->waker);
	else
		name = g_strdup(wait->runnable ? "off-CPU, while it could run" : "off-CPU");
	sample = count_stack(graph, &wait->task, wait->thread.trace, name, wait->node, &kind);
	note_span(graph, &wait->thread, wait->task.pid, sample, wait->begin,
		  wait->begin + (int64_t)ns);
	if (end != KR_NO_END) {
		kr_profile_add(graph->profile, sample, KR_NS, ns);
		kr_profile_end(graph->profile, kind, false, ns);
		graph->profile->end = MAX(graph->profile->end, end);
	}
	g_free(name);
}

/* Return: whether an event is only of use for waits, or is a wait. */
static bool take_switch(struct flamegraph *graph, const struct kr_event *event)
{
	struct kr_stack stack;
	bool has_stack;

	if (strcmp(event->name, "sched_switch") && strcmp(event->name, "sched_waking"))
		return false;
	has_stack = kr_stack_of_event(event->event, &stack);
	if (event->name[6] == 'w') {
		kr_waits_wake(graph->waits, event);
		return !has_stack;
	}
	kr_waits_end(graph->waits, event);
	if (has_stack && kr_sink_wants(&graph->sink, event) && event->task.tid > 0) {
		note_event(graph, event);
		kr_waits_begin(graph->waits, event,
			       kr_profile_node(graph->profile, &stack));
		return true;
	}
	/* A CPU that is idle does not wait. */
	return !has_stack || !event->task.tid;
}

/* The end of a call is not known. */
static void drop_call(struct flamegraph *graph, const struct call *call)
{
	graph->endless++;
	note_span(graph, &call->key, call->pid, call->sample, call->time, call->time);
}

static bool returns(const char *name)
{
	return strcmp(name, "exit") && strcmp(name, "exit_group");
}

static void enter(struct flamegraph *graph, const struct kr_event *event)
{
	uint32_t kind, sample = count_event(graph, event, &kind);
	struct call *call = event->task.tid < 0 ? NULL :
			    g_hash_table_lookup(graph->calls, &event->thread);

	if (call)
		drop_call(graph, call);
	if (event->task.tid < 0 || !returns(event->name)) {
		graph->nobodys += event->task.tid < 0;
		note_span(graph, &event->thread, event->task.pid, sample, event->time,
			  event->time);
		g_hash_table_remove(graph->calls, &event->thread);
		return;
	}
	call = g_new0(struct call, 1);
	call->key = event->thread;
	call->pid = event->task.pid;
	call->name = g_strdup(event->name);
	call->kind = kind;
	call->sample = sample;
	call->time = event->time;
	call->mark = kr_losses_mark(&graph->losses, event->time);
	g_hash_table_replace(graph->calls, &call->key, call);
}

static bool has_failed(const struct kr_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event->event);
	const bt_field *result = payload ?
		bt_field_structure_borrow_member_field_by_name_const(payload, "ret") :
		NULL;

	return result && kr_result_errno(result);
}

static void end_call(struct flamegraph *graph, const struct call *call,
		     const struct kr_event *event)
{
	uint64_t ns = event->time > call->time ?
		      (uint64_t)event->time - (uint64_t)call->time : 0;

	graph->profile->end = MAX(graph->profile->end, event->time);
	if (call->sample == NO_SAMPLE)
		return;
	note_span(graph, &call->key, call->pid, call->sample, call->time, event->time);
	kr_profile_add(graph->profile, call->sample, KR_NS, ns);
	kr_profile_end(graph->profile, call->kind, has_failed(event), ns);
}

static void leave(struct flamegraph *graph, const struct kr_event *event)
{
	struct call *call;
	uint32_t kind, sample;

	/* Its entry was counted, if it is there. */
	if (event->task.tid < 0)
		return;
	call = g_hash_table_lookup(graph->calls, &event->thread);
	if (!call || strcmp(call->name, event->name)) {
		if (call)
			drop_call(graph, call);
		sample = count_event(graph, event, &kind);
		note_span(graph, &event->thread, event->task.pid, sample, event->time,
			  event->time);
	} else if (kr_losses_since(&graph->losses, call->mark)) {
		graph->unsure++;
		note_span(graph, &call->key, call->pid, call->sample, call->time, call->time);
	} else {
		end_call(graph, call, event);
	}
	g_hash_table_remove(graph->calls, &event->thread);
}

static void take_message(struct kr_sink *sink, const bt_message *message)
{
	struct flamegraph *graph = (struct flamegraph *)sink;
	struct kr_event event;
	struct kr_loss loss;

	if (kr_loss_of_message(message, &loss)) {
		kr_losses_add(&graph->losses, &loss);
		*(loss.packets ? &graph->lost_packets : &graph->lost) += loss.count;
	}
	if (!kr_event_of_message(message, &event) || take_switch(graph, &event))
		return;
	if (event.half == KR_EXIT) {
		/* Of one whose entry is left out, so is the exit. */
		if (!sink->filter || g_hash_table_contains(graph->calls, &event.thread))
			leave(graph, &event);
	} else if (kr_sink_wants(sink, &event)) {
		if (event.half == KR_ENTRY)
			enter(graph, &event);
		else
			count_other(graph, &event);
	}
}

static void note(struct flamegraph *graph, uint64_t count, const char *one,
		 const char *many, const char *then)
{
	if (count)
		g_ptr_array_add(graph->profile->notes,
			g_strdup_printf("%" PRIu64 " %s: %s", count,
					count == 1 ? one : many, then));
}

static void add_time_notes(struct flamegraph *graph)
{
	if (graph->count == KR_NS && graph->events && !graph->profile->total.of[KR_NS])
		g_ptr_array_add(graph->profile->notes,
			g_strdup("no time is known: system calls have it, and what 'kunwind trace --off-cpu' records"));
	note(graph, graph->nobodys, "system call does not say its thread",
	     "system calls do not say their thread",
	     "their time is not counted; record with lttng add-context --kernel --type=tid");
	note(graph, graph->endless, "system call has no exit in the trace",
	     "system calls have no exit in the trace",
	     "their time is not counted");
	note(graph, graph->unsure, "system call lasted while events were lost",
	     "system calls lasted while events were lost",
	     "when they ended is not certain, and their time is not counted");
}

/* What is missing from the picture. Of files without names the filter tells. */
static void add_notes(struct flamegraph *graph, enum kr_so_far so_far)
{
	GPtrArray *notes = graph->profile->notes;
	guint i;

	if (so_far == KR_CUT)
		g_ptr_array_add(notes, g_strdup(kr_sink_is_cut));
	if (graph->losses.count && !graph->lost && !graph->lost_packets)
		g_ptr_array_add(notes, g_strdup("events were lost when the trace was recorded, and their number is unknown: they are not counted"));
	note(graph, graph->lost, "event was lost when the trace was recorded",
	     "events were lost when the trace was recorded",
	     "they are not counted; record with more or larger sub-buffers");
	note(graph, graph->lost_packets,
	     "packet of events was lost when the trace was recorded",
	     "packets of events were lost when the trace was recorded",
	     "they are not counted; record with more or larger sub-buffers");
	if (graph->events && graph->bare == graph->events)
		g_ptr_array_add(notes, g_strdup(kr_sink_no_stacks));
	else
		note(graph, graph->bare, "event has no call stack",
		     "events have no call stack", "they are not counted");
	/* What is said of time concerns only who asked for it. */
	if (graph->format == HTML || graph->format == PPROF || graph->timeline ||
	    (graph->format == FOLDED && graph->count == KR_NS))
		add_time_notes(graph);
	for (i = 0; i < notes->len; i++)
		fprintf(stderr, "kunwind: warning: %s\n",
			(char *)g_ptr_array_index(notes, i));
}

/* Return: the weight to show: time, if there is any, unless the user wants another. */
static enum kr_weight chosen(const struct flamegraph *graph)
{
	return graph->counted ? graph->count :
	       graph->profile->total.of[KR_NS] ? KR_NS : KR_EVENTS;
}

static GString *text_of(const struct flamegraph *graph)
{
	switch (graph->format) {
	case HTML:
		return kr_page(graph->profile, graph->before, graph->count);
	case SUMMARY:
		return kr_summary(graph->profile, &graph->screen);
	case TOP:
		return graph->before ?
		       kr_difference(graph->before, graph->profile, &graph->screen) :
		       kr_top(graph->profile, &graph->screen);
	case PPROF:
		return kr_pprof(graph->profile);
	case SPEEDSCOPE:
		return kr_speedscope(graph->profile, graph->timeline, chosen(graph));
	default:
		return kr_profile_fold(graph->profile, graph->count);
	}
}

/* Return: false, with errno, if that cannot be. */
static bool write_page(const struct flamegraph *graph)
{
	struct kr_output output;
	GString *text;
	bool done;

	if (!kr_output_begin_given(&output, graph->page, false))
		return false;
	text = kr_page(graph->profile, graph->before, graph->count);
	done = kr_output_write(&output, text) && kr_output_end(&output);
	kr_output_drop(&output);
	g_string_free(text, TRUE);
	return done;
}

/* All of a trace was read, or as much as can be. */
static void finish(struct flamegraph *graph, enum kr_so_far so_far)
{
	GHashTableIter calls;
	gpointer call;

	kr_waits_finish(graph->waits);
	g_hash_table_iter_init(&calls, graph->calls);
	while (g_hash_table_iter_next(&calls, NULL, &call))
		drop_call(graph, call);
	add_notes(graph, so_far);
	graph->profile->nr_threads = g_hash_table_size(graph->threads);
}

/* What comes now is another trace. */
static void turn(struct kr_sink *sink)
{
	struct flamegraph *graph = (struct flamegraph *)sink;

	finish(graph, KR_ALL);
	graph->before = graph->profile;
	graph->profile = kr_profile_new();
	kr_waits_free(graph->waits);
	graph->waits = kr_waits_new(count_wait, graph);
	g_hash_table_remove_all(graph->calls);
	g_hash_table_remove_all(graph->threads);
	graph->losses = (struct kr_losses){ 0 };
	graph->lost = graph->lost_packets = graph->events = graph->bare = 0;
	graph->nobodys = graph->endless = graph->unsure = 0;
}

static bool write_graph(struct kr_sink *sink, enum kr_so_far so_far)
{
	struct flamegraph *graph = (struct flamegraph *)sink;
	GString *text;
	bool done;

	if (so_far == KR_SOME)
		return true;
	if (sink->compares && !graph->before)
		turn(sink);
	finish(graph, so_far);
	if (graph->page && !write_page(graph))
		return false;
	if (graph->format == UFTRACE)
		return kr_uftrace(&sink->output, graph->profile, graph->timeline);
	text = text_of(graph);
	done = kr_output_write(&sink->output, text);
	g_string_free(text, TRUE);
	return done;
}

static void free_graph(struct kr_sink *sink)
{
	struct flamegraph *graph = (struct flamegraph *)sink;

	kr_waits_free(graph->waits);
	kr_timeline_free(graph->timeline);
	g_hash_table_destroy(graph->calls);
	g_hash_table_destroy(graph->threads);
	g_string_free(graph->name, TRUE);
	g_free(graph->page);
	kr_profile_free(graph->profile);
	if (graph->before)
		kr_profile_free(graph->before);
	kr_machines_free(graph->machines);
	g_free(graph);
}

static bool read_params(struct kr_sink *sink, const bt_value *params)
{
	static const char *const formats[] = {
		"folded", "html", "summary", "top", "pprof", "speedscope",
		"uftrace", NULL
	};
	static const char *const counts[] = { "events", "time", NULL };
	static const char *const no_or_yes[] = { "no", "yes", NULL };
	const bt_value *page = bt_value_map_borrow_entry_value_const(params, "page");
	struct flamegraph *graph = (struct flamegraph *)sink;
	int compares;

	graph->page = page ? g_strdup(bt_value_string_get(page)) : NULL;
	graph->format = kr_sink_choice(sink, params, "format", formats);
	if (graph->format < 0)
		return false;
	if (graph->format == PPROF) {
		if (page)
			return kr_sink_refuse(sink, "page", "not with this format");
		kr_profile_locate(graph->profile);
	}
	compares = kr_sink_choice(sink, params, "compare", no_or_yes);
	sink->compares = compares > 0;
	if (sink->compares && graph->format != HTML && graph->format != TOP)
		return kr_sink_refuse(sink, "compare", "not with this format");
	if (graph->format == SPEEDSCOPE || graph->format == UFTRACE)
		graph->timeline = kr_timeline_new();
	sink->folder = graph->format == UFTRACE;
	graph->counted = bt_value_map_has_entry(params, "count");
	graph->count = kr_sink_choice(sink, params, "count", counts);
	graph->color = kr_sink_choice(sink, params, "color", kr_color_words);
	return compares >= 0 && graph->count >= 0 && graph->color >= 0 &&
	       kr_sink_take_filter(sink, params) &&
	       kr_sink_number(sink, params, "columns", &graph->screen.columns) &&
	       kr_sink_number(sink, params, "rows", &graph->screen.rows) &&
	       kr_sink_number(sink, params, "max-stack", &graph->screen.max_stack);
}

bt_component_class_initialize_method_status kr_flamegraph_init(
	bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data)
{
	static const char *const names[] = {
		"color", "columns", "compare", "count", "filter", "format", "max-stack", "page",
		"path", "rows", NULL
	};
	static const struct kr_sink_ops ops = {
		.message = take_message, .write = write_graph, .turn = turn,
		.free = free_graph,
	};
	struct flamegraph *graph = g_new0(struct flamegraph, 1);
	bt_component_class_initialize_method_status status;

	(void)config;
	(void)data;
	graph->profile = kr_profile_new();
	graph->machines = kr_machines_new();
	graph->waits = kr_waits_new(count_wait, graph);
	graph->calls = g_hash_table_new_full(kr_hash_thread, kr_equal_threads, NULL,
					     free_call);
	graph->name = g_string_new(NULL);
	graph->threads = g_hash_table_new_full(kr_hash_thread, kr_equal_threads, g_free,
					       NULL);
	status = kr_sink_init(&graph->sink, &ops, self, params, names, read_params);
	if (status == BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		graph->screen.colors = kr_sink_colors(&graph->sink, graph->color);
	return status;
}

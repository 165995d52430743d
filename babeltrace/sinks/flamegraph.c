// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sink.kunwind.flamegraph: which stacks there are, in one of many forms, and what is
 * missing from that.
 */
#include <inttypes.h>
#include <stdio.h>
#include "difference.h"
#include "flamegraph.h"
#include "page.h"
#include "pprof.h"
#include "profile.h"
#include "sink.h"
#include "speedscope.h"
#include "summary.h"
#include "tally.h"
#include "timeline.h"
#include "uftrace.h"

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
 * @left_out: how many streams and traces the reader was not given
 * @damaged: of how many traces it was given a part
 * @before: those to compare with; or NULL
 * @tally: the stacks
 */
struct flamegraph {
	struct kr_sink sink;
	int format;
	int count;
	bool counted;
	int color;
	struct kr_screen screen;
	char *page;
	unsigned int left_out;
	unsigned int damaged;
	struct kr_profile *before;
	struct kr_tally tally;
};

static void note(struct flamegraph *graph, uint64_t count, const char *one,
		 const char *many, const char *then)
{
	if (count)
		g_ptr_array_add(graph->tally.profile->notes,
			g_strdup_printf("%" PRIu64 " %s: %s", count,
					count == 1 ? one : many, then));
}

static void add_time_notes(struct flamegraph *graph)
{
	if (graph->count == KR_NS && graph->tally.events && !graph->tally.profile->total.of[KR_NS])
		g_ptr_array_add(graph->tally.profile->notes,
			g_strdup("no time is known: system calls have it, and what 'kunwind trace --off-cpu' records"));
	note(graph, graph->tally.nobodys, "system call does not say its thread",
	     "system calls do not say their thread",
	     "their time is not counted; record with lttng add-context --kernel --type=tid");
	note(graph, graph->tally.endless, "system call has no exit in the trace",
	     "system calls have no exit in the trace",
	     "their time is not counted");
	note(graph, graph->tally.unsure, "system call or wait lasted while events were lost, or the session was stopped",
	     "system calls or waits lasted while events were lost, or the session was stopped",
	     "when they ended is not certain, and their time is not counted");
}

/* What is missing from the picture. Of files without names the filter tells. */
static void add_notes(struct flamegraph *graph, enum kr_so_far so_far)
{
	GPtrArray *notes = graph->tally.profile->notes;
	guint i;

	if (so_far == KR_CUT)
		g_ptr_array_add(notes, g_strdup(kr_sink_is_cut));
	if (graph->tally.losses.count && !graph->tally.lost && !graph->tally.lost_packets)
		g_ptr_array_add(notes, g_strdup("events were lost when the trace was recorded, and their number is unknown: they are not counted"));
	note(graph, graph->tally.lost, "event was lost when the trace was recorded",
	     "events were lost when the trace was recorded",
	     "they are not counted; record with more or larger sub-buffers");
	note(graph, graph->tally.lost_packets,
	     "packet of events was lost when the trace was recorded",
	     "packets of events were lost when the trace was recorded",
	     "they are not counted; record with more or larger sub-buffers");
	if (graph->tally.events && graph->tally.bare == graph->tally.events)
		g_ptr_array_add(notes, g_strdup(kr_sink_no_stacks));
	else
		note(graph, graph->tally.bare, "event has no call stack",
		     "events have no call stack", "they are not counted");
	/* What is said of time concerns only who asked for it. */
	if (graph->format == HTML || graph->format == PPROF || graph->tally.timeline ||
	    (graph->format == FOLDED && graph->count == KR_NS))
		add_time_notes(graph);
	for (i = 0; i < notes->len; i++)
		fprintf(stderr, "kunwind: warning: %s\n",
			(char *)g_ptr_array_index(notes, i));
	/* The command has said which ones. */
	note(graph, graph->left_out, "stream or trace is left out", "streams or traces are left out",
	     "reading them ended badly, so this is incomplete");
	note(graph, graph->damaged, "trace is damaged", "traces are damaged",
	     "this is what can be read of them");
}

/* Return: the weight to show: time, if there is any, unless the user wants another. */
static enum kr_weight chosen(const struct flamegraph *graph)
{
	return graph->counted ? graph->count :
	       graph->tally.profile->total.of[KR_NS] ? KR_NS : KR_EVENTS;
}

static GString *text_of(const struct flamegraph *graph)
{
	switch (graph->format) {
	case HTML:
		return kr_page(graph->tally.profile, graph->before, graph->count);
	case SUMMARY:
		return kr_summary(graph->tally.profile, &graph->screen);
	case TOP:
		return graph->before ?
		       kr_difference(graph->before, graph->tally.profile, &graph->screen) :
		       kr_top(graph->tally.profile, &graph->screen);
	case PPROF:
		return kr_pprof(graph->tally.profile);
	case SPEEDSCOPE:
		return kr_speedscope(graph->tally.profile, graph->tally.timeline, chosen(graph));
	default:
		return kr_profile_fold(graph->tally.profile, graph->count);
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
	text = kr_page(graph->tally.profile, graph->before, graph->count);
	done = kr_output_write(&output, text) && kr_output_end(&output);
	kr_output_drop(&output);
	g_string_free(text, TRUE);
	return done;
}

static void take_message(struct kr_sink *sink, const bt_message *message)
{
	kr_tally_take(&((struct flamegraph *)sink)->tally, message);
}

static void finish(struct flamegraph *graph, enum kr_so_far so_far)
{
	kr_tally_finish(&graph->tally);
	add_notes(graph, so_far);
}

/* What comes now is another trace. */
static void turn(struct kr_sink *sink)
{
	struct flamegraph *graph = (struct flamegraph *)sink;

	finish(graph, KR_ALL);
	graph->before = kr_tally_turn(&graph->tally);
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
	if (graph->before)
		kr_profile_pair(graph->tally.profile);
	if (graph->page && !write_page(graph))
		return false;
	if (graph->format == UFTRACE)
		return kr_uftrace(&sink->output, graph->tally.profile, graph->tally.timeline);
	text = text_of(graph);
	done = kr_output_write(&sink->output, text);
	g_string_free(text, TRUE);
	return done;
}

static void free_graph(struct kr_sink *sink)
{
	struct flamegraph *graph = (struct flamegraph *)sink;

	kr_tally_destroy(&graph->tally);
	g_free(graph->page);
	if (graph->before)
		kr_profile_free(graph->before);
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
		kr_profile_locate(graph->tally.profile);
	}
	compares = kr_sink_choice(sink, params, "compare", no_or_yes);
	sink->compares = compares > 0;
	if (sink->compares && graph->format != HTML && graph->format != TOP)
		return kr_sink_refuse(sink, "compare", "not with this format");
	if (graph->format == SPEEDSCOPE || graph->format == UFTRACE)
		graph->tally.timeline = kr_timeline_new();
	sink->folder = graph->format == UFTRACE;
	graph->tally.names_threads = graph->format == HTML || graph->format == PPROF ||
				     graph->tally.timeline || graph->page;
	graph->counted = bt_value_map_has_entry(params, "count");
	graph->count = kr_sink_choice(sink, params, "count", counts);
	graph->color = kr_sink_choice(sink, params, "color", kr_color_words);
	return compares >= 0 && graph->count >= 0 && graph->color >= 0 &&
	       kr_sink_take_filter(sink, params) &&
	       kr_sink_number(sink, params, "columns", &graph->screen.columns) &&
	       kr_sink_number(sink, params, "rows", &graph->screen.rows) &&
	       kr_sink_number(sink, params, "max-stack", &graph->screen.max_stack) &&
	       kr_sink_number(sink, params, "left-out", &graph->left_out) &&
	       kr_sink_number(sink, params, "damaged", &graph->damaged);
}

bt_component_class_initialize_method_status kr_flamegraph_init(
	bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data)
{
	static const char *const names[] = {
		"color", "columns", "compare", "count", "damaged", "filter", "format", "left-out",
		"max-stack", "page", "path", "rows", NULL
	};
	static const struct kr_sink_ops ops = {
		.message = take_message, .write = write_graph, .turn = turn,
		.free = free_graph,
	};
	struct flamegraph *graph = g_new0(struct flamegraph, 1);
	bt_component_class_initialize_method_status status;

	(void)config;
	(void)data;
	kr_tally_init(&graph->tally, &graph->sink);
	status = kr_sink_init(&graph->sink, &ops, self, params, names, read_params);
	if (status == BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		graph->screen.colors = kr_sink_colors(&graph->sink, graph->color);
	return status;
}

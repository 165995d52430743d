// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Showing traces: source.ctf.fs, filter.utils.muxer, filter.kunwind.symbolize and
 * a sink of the plugin, in a graph of the reader.
 */
#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "command.h"
#include "graph.h"
#include "lanes.h"
#include "notes.h"
#include "plugins.h"
#include "progress.h"
#include "reader.h"
#include "safe.h"
#include "sources.h"
#include "view.h"

static bt_graph *running;

void kc_graph_interrupt(void)
{
	if (running)
		bt_interrupter_set(bt_graph_borrow_default_interrupter(running));
}

/* It has names that the owner of the trace chose. */
static void say_cause(const char *message)
{
	GString *line = g_string_new("  ");

	kr_safe_append(line, message);
	fprintf(stderr, "%s\n", line->str);
	g_string_free(line, TRUE);
}

/* What babeltrace2 has to say about a failure; but not where in its library. */
static void say_error(const char *what)
{
	const bt_error *error = bt_current_thread_take_error();
	uint64_t i, n = error ? bt_error_get_cause_count(error) : 0;

	kc_error(NULL, "%s", what);
	for (i = 0; i < n; i++) {
		const bt_error_cause *cause = bt_error_borrow_cause_by_index(error, i);
		const char *message = bt_error_cause_get_message(cause);

		if (strstr(message, strerror(EMFILE)))
			kc_error("'ulimit -n' allows more", "more files than this process may open");
		if (!i || bt_error_cause_get_actor_type(cause) !=
				  BT_ERROR_CAUSE_ACTOR_TYPE_UNKNOWN)
			say_cause(message);
	}
	if (error)
		bt_error_release(error);
}

static void set_string(bt_value *params, const char *name, const char *value)
{
	if (value)
		(void)bt_value_map_insert_string_entry(params, name, value);
}

static const bt_component_filter *add_names(bt_graph *graph, const bt_plugin *plugin,
					    const char *name, const struct kc_view *view,
					    const struct kc_lane *lane, const int *parent)
{
	const bt_component_filter *names = NULL;
	bt_value *params = bt_value_map_create();

	set_string(params, "sysroot", view->sysroot);
	set_string(params, view->kallsyms ? "kallsyms" : "kallsyms-found", lane->kallsyms);
	set_string(params, "jit", lane->jit);
	(void)bt_graph_add_filter_component_with_initialize_method_data(graph,
		bt_plugin_borrow_filter_component_class_by_name_const(plugin,
			"symbolize"),
		name, params, (void *)parent, BT_LOGGING_LEVEL_WARNING, &names);
	bt_value_put_ref(params);
	return names;
}

/* The sink of each form, and its parameter "format". */
static const struct {
	const char *sink;
	const char *format;
} forms[KC_NR_FORMS] = {
	[KC_SUMMARY] = { "flamegraph", "summary" },
	[KC_TOP] = { "flamegraph", "top" },
	[KC_FULL] = { "text", NULL },
	[KC_RAW] = { "pretty", NULL },
	[KC_FOLDED] = { "flamegraph", "folded" },
	[KC_FLAME] = { "flamegraph", "html" },
	[KC_PERFETTO] = { "perfetto", NULL },
	[KC_PPROF] = { "flamegraph", "pprof" },
	[KC_SPEEDSCOPE] = { "flamegraph", "speedscope" },
	[KC_UFTRACE] = { "flamegraph", "uftrace" },
};

/* What is to fit on a screen fits on that of the terminal. */
static void set_screen(bt_value *params, const struct kc_view *view)
{
	char rows[16] = "50", columns[16] = "0";
	const char *lines = getenv("LINES");
	struct winsize size;

	if (view->form != KC_SUMMARY && view->form != KC_TOP)
		return;
	if (view->form == KC_TOP)
		strcpy(rows, "0");
	if (!view->path && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row) {
		g_snprintf(rows, sizeof(rows), "%d", size.ws_row);
		g_snprintf(columns, sizeof(columns), "%d", size.ws_col);
	}
	if (lines && atoi(lines) > 0)
		g_snprintf(rows, sizeof(rows), "%d", atoi(lines));
	set_string(params, "rows", rows);
	set_string(params, "columns", columns);
}

/* What a page or a table has not, as its reader knows nothing of it. */
static void set_missing(bt_value *params, const struct kc_graph *what)
{
	char number[16];

	if (strcmp(forms[what->view->form].sink, "flamegraph"))
		return;
	g_snprintf(number, sizeof(number), "%u", what->left_out);
	set_string(params, "left-out", number);
	g_snprintf(number, sizeof(number), "%u", what->damaged);
	set_string(params, "damaged", number);
}

static const bt_component_sink *add_sink(bt_graph *graph, const bt_plugin *plugin,
					 const struct kc_graph *what)
{
	const struct kc_view *view = what->view;
	const bt_component_sink *sink = NULL;
	bt_value *params = bt_value_map_create();

	set_string(params, "path", view->path);
	set_string(params, "page", view->page);
	set_string(params, "compare", view->before ? "yes" : NULL);
	set_string(params, "color", view->color);
	set_string(params, "format", forms[view->form].format);
	set_string(params, "count", view->count);
	set_string(params, "filter", view->filter);
	set_string(params, "max-stack", view->max_stack);
	set_screen(params, view);
	set_missing(params, what);
	(void)bt_graph_add_sink_component(graph,
		bt_plugin_borrow_sink_component_class_by_name_const(plugin,
			forms[view->form].sink),
		"view", params, BT_LOGGING_LEVEL_WARNING, &sink);
	bt_value_put_ref(params);
	return sink;
}

/* A port of a sink, which is made. */
static const bt_port_input *add_nothing(bt_graph *graph, const bt_plugin *utils,
					const char *name)
{
	const bt_component_sink *sink = NULL;

	(void)bt_graph_add_sink_component(graph,
		bt_plugin_borrow_sink_component_class_by_name_const(utils, "dummy"),
		name, NULL, BT_LOGGING_LEVEL_NONE, &sink);
	return sink ? bt_component_sink_borrow_input_port_by_index_const(sink, 0) : NULL;
}

static bool connect(bt_graph *graph, const bt_component_filter *from,
		    const bt_port_input *to)
{
	return !bt_graph_connect_ports(graph,
		bt_component_filter_borrow_output_port_by_index_const(from, 0), to, NULL);
}

static const bt_port_input *input_of(const bt_component_filter *filter)
{
	return bt_component_filter_borrow_input_port_by_index_const(filter, 0);
}

static const bt_component_filter *add_muxer(bt_graph *graph, const bt_plugin *utils,
					    const char *name)
{
	const bt_component_filter *muxer = NULL;

	(void)bt_graph_add_filter_component(graph,
		bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer"),
		name, NULL, BT_LOGGING_LEVEL_NONE, &muxer);
	return muxer;
}

/* What a view is made with. */
struct parts {
	bt_graph *graph;
	const struct kc_plugins *plugins;
	const struct kc_view *view;
	const int *parent;
	struct kc_progress *progress;
};

/*
 * From a muxer of sources to a port. A function of babeltrace2 must not be called while
 * an error is to be told of.
 */
static bool add_lane(const struct parts *parts, struct kc_lane *lane, guint number,
		     const bt_port_input *to)
{
	char *name = g_strdup_printf("muxer-%u", number);
	const bt_component_filter *from = NULL, *names;

	lane->muxer = add_muxer(parts->graph, parts->plugins->utils, name);
	g_free(name);
	name = g_strdup_printf("progress-%u", number);
	if (lane->muxer)
		from = kc_progress_filter(parts->graph, name, parts->progress);
	g_free(name);
	if (!from || !connect(parts->graph, lane->muxer, input_of(from)))
		return false;
	if (parts->view && parts->view->form != KC_RAW) {
		name = g_strdup_printf("names-%u", number);
		names = add_names(parts->graph, parts->plugins->own, name, parts->view, lane,
				  parts->parent);
		g_free(name);
		if (!names || !connect(parts->graph, from, input_of(names)))
			return false;
		from = names;
	}
	return connect(parts->graph, from, to);
}

/* Connect all lanes of a side to a port. */
static bool add_side(const struct parts *parts, const bt_port_input *to, GPtrArray *lanes,
		     guint side)
{
	const bt_component_filter *joint = NULL;
	guint i;

	if (lanes->len > 1) {
		joint = add_muxer(parts->graph, parts->plugins->utils,
				  side ? "joint-before" : "joint");
		if (!joint || !connect(parts->graph, joint, to))
			return false;
	}
	for (i = 0; i < lanes->len; i++) {
		/* A muxer has one more input each time. */
		if (joint)
			to = bt_component_filter_borrow_input_port_by_index_const(joint,
				i);
		if (!add_lane(parts, g_ptr_array_index(lanes, i), i * KC_SIDES + side, to))
			return false;
	}
	return true;
}

static bool add_view(const struct parts *parts, const struct kc_graph *what)
{
	static const char *const names[KC_SIDES] = { "nothing", "nothing-before" };
	GPtrArray *const *sides = what->sides;
	const bt_component_sink *sink = NULL;
	const bt_port_input *to;
	guint i;

	if (what->view)
		sink = add_sink(parts->graph, parts->plugins->own, what);
	if (what->view && !sink)
		return false;
	for (i = 0; i < KC_SIDES && sides[i]; i++) {
		to = sink ? bt_component_sink_borrow_input_port_by_index_const(sink, i) :
			    add_nothing(parts->graph, parts->plugins->utils, names[i]);
		if (!to || !add_side(parts, to, sides[i], i))
			return false;
	}
	return true;
}

static bool add_lanes(const struct parts *parts, GPtrArray *lanes)
{
	guint i;

	for (i = 0; i < lanes->len; i++) {
		struct kc_lane *lane = g_ptr_array_index(lanes, i);

		if (!kc_sources_add(parts->graph, parts->plugins->ctf, lane->muxer,
				    lane->readable, parts->progress))
			return false;
	}
	return true;
}

/* Return: an exit status. */
static int run(bt_graph *graph, const volatile sig_atomic_t *stop)
{
	bt_graph_run_once_status status = BT_GRAPH_RUN_ONCE_STATUS_OK;

	running = graph;
	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK && !*stop)
		status = bt_graph_run_once(graph);
	running = NULL;
	if (status == BT_GRAPH_RUN_ONCE_STATUS_END)
		return 0;
	if (*stop) {
		bt_current_thread_clear_error();
		return KC_SIGNALLED(*stop);
	}
	return KC_FAILED;
}

/* Return: a status. */
static int show(const struct parts *parts, const struct kc_graph *what,
		const struct kc_reader *reader)
{
	GPtrArray *const *sides = what->sides;
	int status;

	if (!parts->graph || !add_view(parts, what) || !add_lanes(parts, sides[0]) ||
	    (sides[1] && !add_lanes(parts, sides[1]))) {
		say_error("the trace cannot be shown");
		return KC_FAILED;
	}
	kc_reader_begin_streams(reader);
	status = run(parts->graph, what->stop);
	kc_progress_end(parts->progress);
	if (status == KC_FAILED)
		say_error("the trace cannot be shown to its end");
	return status;
}

/* Other forms have a filter that says it. */
static void say_lost(const struct kc_progress *progress)
{
	struct kr_notes *notes = kr_notes_new();

	kr_note_many(notes, KR_LOST, progress->lost);
	kr_note_many(notes, KR_LOST_PACKETS, progress->lost_packets);
	kr_notes_say(notes, NULL, -1);
	kr_notes_free(notes);
}

int kc_graph_show(const struct kc_graph *what, const struct kc_reader *reader)
{
	const struct kc_view *view = what->view;
	struct kc_progress progress = KC_PROGRESS_INIT;
	const struct parts parts = {
		.graph = bt_graph_create(0), .plugins = what->plugins, .view = view,
		.parent = &reader->parent_socket, .progress = &progress,
	};
	int status;

	/* A text on the terminal shows that something happens. A pager draws there itself. */
	progress.silent = !view || !isatty(STDERR_FILENO) || (!view->path &&
		(view->paged || isatty(STDOUT_FILENO)) &&
		(view->form == KC_FULL || view->form == KC_RAW));
	progress.raw = view && view->form == KC_RAW;
	progress.begun = what->begun;
	status = show(&parts, what, reader);
	say_lost(&progress);
	bt_graph_put_ref(parts.graph);
	/* A reader that only tries may have been left none. */
	if (!status && view && !progress.events) {
		kc_error("either nothing happened, or it is not written yet",
			 "the trace has no events");
		status = KC_FAILED;
	}
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Showing traces: source.ctf.fs, filter.utils.muxer, filter.kunwind.symbolize and
 * a sink of the plugin, in a graph of this process.
 */
#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "command.h"
#include "folders.h"
#include "jit_names.h"
#include "pager.h"
#include "progress.h"
#include "safe.h"
#include "salvage.h"
#include "view.h"

#define PLUGIN_FILE	BT2_PLUGINDIR "/babeltrace-plugin-kunwind.so"

/* What ends the graph and not this process, which would leave copies behind. */
static const int ending[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
#define NR_ENDING	G_N_ELEMENTS(ending)

static bt_graph *running;
static volatile sig_atomic_t stop;
static int nowhere = -1;

/* Who reads the output may have stopped to: what is still to come goes nowhere. */
static void interrupt(int number)
{
	int err = errno;

	stop = number;
	dup2(nowhere, STDOUT_FILENO);
	if (running)
		bt_interrupter_set(bt_graph_borrow_default_interrupter(running));
	errno = err;
}

/*
 * A signal that is ignored, as nohup does it, stays so. A second one ends this process:
 * the graph notices the first one only between two messages.
 */
static void catch_signals(struct sigaction before[NR_ENDING])
{
	const struct sigaction action = {
		.sa_handler = interrupt,
		.sa_flags = SA_RESETHAND,
	};
	size_t i;

	stop = 0;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (i = 0; i < NR_ENDING; i++) {
		sigaction(ending[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &action, NULL);
	}
}

static void restore_signals(const struct sigaction before[NR_ENDING])
{
	size_t i;

	for (i = 0; i < NR_ENDING; i++)
		sigaction(ending[i], &before[i], NULL);
	close(nowhere);
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

/* The plugin: where babeltrace2 looks, then where this package puts it. */
static const bt_plugin *find_plugin(void)
{
	const bt_plugin_set *set = NULL;
	const bt_plugin *plugin = NULL;

	if (!bt_plugin_find("kunwind", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
			    &plugin))
		return plugin;
	if (!bt_plugin_find_all_from_file(PLUGIN_FILE, BT_FALSE, &set)) {
		plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
		bt_plugin_get_ref(plugin);
		bt_plugin_set_put_ref(set);
		return plugin;
	}
	bt_current_thread_clear_error();
	kc_error("install it, or say where it is: BABELTRACE_PLUGIN_PATH",
		 "babeltrace2's plugin kunwind is not found: %s", PLUGIN_FILE);
	return NULL;
}

static const bt_plugin *find_own(const char *name)
{
	const bt_plugin *plugin = NULL;

	if (!bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
			    &plugin))
		return plugin;
	bt_current_thread_clear_error();
	kc_error("install babeltrace2", "babeltrace2's plugin %s is not found", name);
	return NULL;
}

static void set_string(bt_value *params, const char *name, const char *value)
{
	if (value)
		(void)bt_value_map_insert_string_entry(params, name, value);
}

/* Return: what a trace's folder belongs to, which the caller frees. */
static char *group_of(const bt_component_class_source *class, const char *folder)
{
	const bt_value *result = NULL, *group = NULL;
	bt_value *params = bt_value_map_create();
	bt_query_executor *executor;
	char *name = NULL;

	set_string(params, "input", folder);
	set_string(params, "type", "directory");
	executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class),
		"babeltrace.support-info", params);
	if (executor && !bt_query_executor_query(executor, &result) &&
	    bt_value_is_map(result))
		group = bt_value_map_borrow_entry_value_const(result, "group");
	if (group && bt_value_is_string(group))
		name = g_strdup(bt_value_string_get(group));
	bt_current_thread_clear_error();
	bt_value_put_ref(result);
	bt_value_put_ref(params);
	bt_query_executor_put_ref(executor);
	return name ?: g_strdup(folder);
}

/* Connect all outputs of a source to the muxer, which has one more input each time. */
static bool connect_source(bt_graph *graph, const bt_component_source *source,
			   const bt_component_filter *muxer)
{
	uint64_t i, n = bt_component_source_get_output_port_count(source);

	for (i = 0; i < n; i++)
		if (bt_graph_connect_ports(graph,
			bt_component_source_borrow_output_port_by_index_const(source, i),
			bt_component_filter_borrow_input_port_by_index_const(muxer,
				bt_component_filter_get_input_port_count(muxer) - 1),
			NULL))
			return false;
	return true;
}

/* One source for the folders of one trace: a session that rotated has several. */
static bool add_source(bt_graph *graph, const bt_component_class_source *class,
		       const bt_component_filter *muxer, const char *group,
		       GPtrArray *folders, struct kc_progress *progress)
{
	const bt_component_source *source;
	bt_value *params = bt_value_map_create(), *inputs;
	bool done;
	guint i;

	(void)bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	for (i = 0; i < folders->len; i++)
		(void)bt_value_array_append_string_element(inputs,
			g_ptr_array_index(folders, i));
	/* Without it, clocks of several machines, or boots, are an error. */
	(void)bt_value_map_insert_bool_entry(params,
		"force-clock-class-origin-unix-epoch", BT_TRUE);
	if (!progress->silent)
		kc_progress_add(progress, class, params);
	done = !bt_graph_add_source_component(graph, class, group, params,
					      BT_LOGGING_LEVEL_NONE, &source) &&
	       connect_source(graph, source, muxer);
	bt_value_put_ref(params);
	return done;
}

static bool add_sources(bt_graph *graph, const bt_plugin *ctf,
			const bt_component_filter *muxer, GPtrArray *folders,
			struct kc_progress *progress)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs");
	GHashTable *groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
		(GDestroyNotify)g_ptr_array_unref);
	GHashTableIter iter;
	gpointer group, members;
	bool done = true;
	guint i;

	for (i = 0; i < folders->len; i++) {
		char *name = group_of(class, g_ptr_array_index(folders, i));

		members = g_hash_table_lookup(groups, name);
		if (!members) {
			members = g_ptr_array_new();
			g_hash_table_insert(groups, g_strdup(name), members);
		}
		g_ptr_array_add(members, g_ptr_array_index(folders, i));
		g_free(name);
	}
	g_hash_table_iter_init(&iter, groups);
	while (done && g_hash_table_iter_next(&iter, &group, &members))
		done = add_source(graph, class, muxer, group, members, progress);
	g_hash_table_destroy(groups);
	return done;
}

/**
 * struct lane - traces of one machine
 * @kallsyms: the names of its kernel, or NULL
 * @jit: the folder with names of compiled code, or NULL
 * @folders: the traces
 * @muxer: where their sources lead
 */
struct lane {
	char *kallsyms;
	char *jit;
	GPtrArray *folders;
	const bt_component_filter *muxer;
};

static void free_lane(gpointer data)
{
	struct lane *lane = data;

	g_free(lane->kallsyms);
	g_free(lane->jit);
	g_ptr_array_unref(lane->folders);
	g_free(lane);
}

/* Traces below @top, by what names their kernel's addresses and their compiled code. */
static GPtrArray *lanes_of(const char *top, GPtrArray *folders, const struct kc_view *view)
{
	GPtrArray *lanes = g_ptr_array_new_with_free_func(free_lane);
	struct lane *lane = NULL;
	guint i, j;

	for (i = 0; i < folders->len; i++) {
		char *folder = g_ptr_array_index(folders, i);
		char *kallsyms = view->kallsyms ? g_strdup(view->kallsyms) :
						  kc_find_beside(top, folder, "kallsyms");
		char *jit = kc_find_beside(top, folder, KC_JIT_NAMES);

		for (j = 0, lane = NULL; j < lanes->len && !lane; j++) {
			lane = g_ptr_array_index(lanes, j);
			if (g_strcmp0(lane->kallsyms, kallsyms) ||
			    g_strcmp0(lane->jit, jit))
				lane = NULL;
		}
		if (lane) {
			g_free(kallsyms);
			g_free(jit);
		} else {
			lane = g_new0(struct lane, 1);
			lane->kallsyms = kallsyms;
			lane->jit = jit;
			lane->folders = g_ptr_array_new_with_free_func(g_free);
			g_ptr_array_add(lanes, lane);
		}
		g_ptr_array_add(lane->folders, g_strdup(folder));
	}
	return lanes;
}

static const bt_component_filter *add_names(bt_graph *graph, const bt_plugin *plugin,
					    const char *name, const struct kc_view *view,
					    const struct lane *lane)
{
	const bt_component_filter *names = NULL;
	bt_value *params = bt_value_map_create();

	set_string(params, "sysroot", view->sysroot);
	set_string(params, "kallsyms", lane->kallsyms);
	set_string(params, "jit", lane->jit);
	(void)bt_graph_add_filter_component(graph,
		bt_plugin_borrow_filter_component_class_by_name_const(plugin,
			"symbolize"),
		name, params, BT_LOGGING_LEVEL_WARNING, &names);
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

static const bt_component_sink *add_sink(bt_graph *graph, const bt_plugin *plugin,
					 const struct kc_view *view)
{
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
	(void)bt_graph_add_sink_component(graph,
		bt_plugin_borrow_sink_component_class_by_name_const(plugin,
			forms[view->form].sink),
		"view", params, BT_LOGGING_LEVEL_WARNING, &sink);
	bt_value_put_ref(params);
	return sink;
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
	const bt_plugin *plugin;
	const bt_plugin *ctf;
	const bt_plugin *utils;
	const struct kc_view *view;
	struct kc_progress *progress;
};

/*
 * From a muxer of sources to a port. A function of babeltrace2 must not be called while
 * an error is to be told of.
 */
static bool add_lane(const struct parts *parts, struct lane *lane, guint number,
		     const bt_port_input *to)
{
	char *name = g_strdup_printf("muxer-%u", number);
	const bt_component_filter *from = NULL, *names;

	lane->muxer = add_muxer(parts->graph, parts->utils, name);
	g_free(name);
	name = g_strdup_printf("progress-%u", number);
	if (lane->muxer)
		from = kc_progress_filter(parts->graph, name, parts->progress);
	g_free(name);
	if (!from || !connect(parts->graph, lane->muxer, input_of(from)))
		return false;
	if (parts->view->form != KC_RAW) {
		name = g_strdup_printf("names-%u", number);
		names = add_names(parts->graph, parts->plugin, name, parts->view, lane);
		g_free(name);
		if (!names || !connect(parts->graph, from, input_of(names)))
			return false;
		from = names;
	}
	return connect(parts->graph, from, to);
}

/* What is shown, and what it is compared with. */
#define SIDES	2

/* Connect all lanes of a side to the sink's port of the same number. */
static bool add_side(const struct parts *parts, const bt_component_sink *sink,
		     GPtrArray *lanes, guint side)
{
	const bt_port_input *to =
		bt_component_sink_borrow_input_port_by_index_const(sink, side);
	const bt_component_filter *joint = NULL;
	guint i;

	if (lanes->len > 1) {
		joint = add_muxer(parts->graph, parts->utils, side ? "joint-before" :
								     "joint");
		if (!joint || !connect(parts->graph, joint, to))
			return false;
	}
	for (i = 0; i < lanes->len; i++) {
		/* A muxer has one more input each time. */
		if (joint)
			to = bt_component_filter_borrow_input_port_by_index_const(joint,
				i);
		if (!add_lane(parts, g_ptr_array_index(lanes, i), i * SIDES + side, to))
			return false;
	}
	return true;
}

static bool add_view(const struct parts *parts, GPtrArray *const sides[SIDES])
{
	const bt_component_sink *sink = add_sink(parts->graph, parts->plugin,
						 parts->view);
	guint i;

	for (i = 0; sink && i < SIDES && sides[i]; i++)
		if (!add_side(parts, sink, sides[i], i))
			return false;
	return sink;
}

static bool add_lanes(const struct parts *parts, GPtrArray *lanes)
{
	guint i;

	for (i = 0; i < lanes->len; i++) {
		struct lane *lane = g_ptr_array_index(lanes, i);

		if (!add_sources(parts->graph, parts->ctf, lane->muxer, lane->folders,
				 parts->progress))
			return false;
	}
	return true;
}

/* Return: an exit status. */
static int run(bt_graph *graph)
{
	bt_graph_run_once_status status = BT_GRAPH_RUN_ONCE_STATUS_OK;

	running = graph;
	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK && !stop)
		status = bt_graph_run_once(graph);
	running = NULL;
	if (status == BT_GRAPH_RUN_ONCE_STATUS_END)
		return 0;
	if (stop) {
		bt_current_thread_clear_error();
		return KC_SIGNALLED(stop);
	}
	return KC_FAILED;
}

/* babeltrace2 keeps each stream open: a machine of 500 CPUs has 1,500. */
static void raise_descriptors(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most))
		return;
	most.rlim_cur = most.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &most);
}

static int show(GPtrArray *const sides[SIDES], const struct kc_view *view,
		const bt_plugin *plugin)
{
	const bt_plugin *ctf = find_own("ctf"), *utils = find_own("utils");
	struct kc_progress progress = KC_PROGRESS_INIT;
	bt_graph *graph = NULL;
	int status = KC_FAILED;

	/* A text on the terminal shows by itself that something happens. */
	progress.silent = !isatty(STDERR_FILENO) || (!view->path &&
		isatty(STDOUT_FILENO) && (view->form == KC_FULL || view->form == KC_RAW));
	progress.without_maps = view->form == KC_RAW;
	if (ctf && utils) {
		struct parts parts = {
			.graph = bt_graph_create(0), .plugin = plugin, .ctf = ctf,
			.utils = utils, .view = view, .progress = &progress,
		};

		graph = parts.graph;
		/* What cannot be written is said before anything is read. */
		if (graph && add_view(&parts, sides) && add_lanes(&parts, sides[0]) &&
		    (!sides[1] || add_lanes(&parts, sides[1]))) {
			status = run(graph);
			kc_progress_end(&progress);
			if (status == KC_FAILED)
				say_error("the trace cannot be shown to its end");
		} else {
			say_error("the trace cannot be shown");
		}
	}
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(utils);
	if (!status && !progress.events) {
		kc_error("either nothing happened, or it is not written yet",
			 "the trace has no events");
		status = KC_FAILED;
	}
	return status;
}

/* Return: the lanes of all traces below a folder; NULL if there is none, and that was said. */
static GPtrArray *find_lanes(const char *folder, const struct kc_view *view)
{
	GPtrArray *folders = kc_find_traces(folder), *lanes;

	if (!folders)
		return NULL;
	lanes = lanes_of(folder, folders, view);
	g_ptr_array_unref(folders);
	return lanes;
}

/* Replace damaged traces by what can be read of them: @copies, to be removed. */
static void salvage(GPtrArray *folders, GPtrArray *copies)
{
	guint i;

	for (i = 0; i < folders->len && !stop; i++) {
		char *instead = kc_salvage(g_ptr_array_index(folders, i), &stop);

		if (!instead)
			continue;
		g_ptr_array_add(copies, instead);
		g_free(g_ptr_array_index(folders, i));
		g_ptr_array_index(folders, i) = g_strdup(instead);
	}
}

static void salvage_lanes(GPtrArray *lanes, GPtrArray *copies)
{
	guint i;

	for (i = 0; lanes && i < lanes->len; i++)
		salvage(((struct lane *)g_ptr_array_index(lanes, i))->folders, copies);
}

/* Return: a status. */
static int show_sides(GPtrArray *const sides[SIDES], struct kc_view *view)
{
	const bt_plugin *plugin = view->form == KC_RAW ? find_own("text") : find_plugin();
	struct sigaction before[NR_ENDING];
	struct kc_pager pager = { 0 };
	GPtrArray *copies;
	int status;

	if (!plugin)
		return KC_FAILED;
	if (view->form == KC_FULL && !view->path)
		kc_pager_begin(&pager, &view->color);
	catch_signals(before);
	copies = g_ptr_array_new_with_free_func((GDestroyNotify)kc_salvage_remove);
	salvage_lanes(sides[0], copies);
	salvage_lanes(sides[1], copies);
	raise_descriptors();
	status = stop ? KC_SIGNALLED(stop) : show(sides, view, plugin);
	g_ptr_array_unref(copies);
	kc_pager_end(&pager);
	restore_signals(before);
	bt_plugin_put_ref(plugin);
	return status;
}

int kc_show(const char *folder, const struct kc_view *view)
{
	struct kc_view whole = *view;
	GPtrArray *sides[SIDES] = { NULL };
	int status = KC_FAILED;

	whole.form = view->form ?: isatty(STDOUT_FILENO) && !view->path ? KC_SUMMARY :
									   KC_FULL;
	if (whole.path && !strcmp(whole.path, "-"))
		whole.path = NULL;
	if (!kc_view_possible(&whole))
		return KC_FAILED;
	sides[0] = find_lanes(folder, &whole);
	if (sides[0] && whole.before)
		sides[1] = find_lanes(whole.before, &whole);
	if (sides[0] && (!whole.before || sides[1]))
		status = show_sides(sides, &whole);
	g_clear_pointer(&sides[0], g_ptr_array_unref);
	g_clear_pointer(&sides[1], g_ptr_array_unref);
	return status;
}

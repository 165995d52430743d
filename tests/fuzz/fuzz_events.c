// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Any trace, through filter.kunwind.symbolize and a sink: what events say can be wrong, but
 * reading them ends well, and what is written is what its form says. The first two bytes of the
 * input choose the form. One that compares has half of the rest as each of two traces.
 */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "any_fields.h"
#include "any_trace.h"
#include "filter.h"
#include "flamegraph.h"
#include "fuzz_reader.h"
#include "notes.h"
#include "perfetto.h"
#include "sink.h"
#include "symbolize.h"
#include "text.h"
#include "wire.h"
#include "written.h"

/* What the reader's parent says of a file depends on the address. */
static GVariant *answer(u64 offset)
{
	static const char *const functions[] = {
		"f", "g<x>(int)", "\033[31m\xff;\n", ""
	};
	GVariantBuilder frames;
	u64 i;

	if (offset % 8 == 7)
		return NULL;
	g_variant_builder_init(&frames, G_VARIANT_TYPE("a(ayaytub)"));
	for (i = 0; i < offset % 4; i++)
		g_variant_builder_add(&frames, "(@ay@aytub)",
				      g_variant_new_bytestring(functions[(offset + i) / 4 % 4]),
				      g_variant_new_bytestring(offset & 16 ? "/a.c" : ""), offset,
				      (guint32)offset, i + 1 < offset % 4);
	return g_variant_new(KR_ANSWER_TYPE, offset % 32 == 1, offset % 64 == 1, offset % 16 == 2,
			     &frames);
}

static gpointer be_parent(gpointer data)
{
	int socket = GPOINTER_TO_INT(data);
	enum kr_wire kind;
	GVariant *body, *said;
	u64 offset;

	while ((body = kr_wire_receive(socket, &kind, NULL))) {
		if (kind == KR_RESOLVE) {
			g_variant_get_child(body, 5, "t", &offset);
			said = g_variant_new("(ubm@" KR_ANSWER_TYPE ")",
					     (guint32)(offset / 8 % (KR_NR_NOTES + 1)),
					     (gboolean)(offset % 4 == 3),
					     answer(offset));
			must(kr_wire_send(socket, KR_RESOLVED, said, -1));
		} else {
			must(kr_wire_send(socket, KR_PACKAGES, g_variant_new("(aay)", NULL), -1));
		}
		g_variant_unref(body);
	}
	return NULL;
}

/**
 * struct parts - what all inputs are read with
 * @source: the class of the trace
 * @filter: the filter's
 * @sinks: the sinks'
 * @parent: the end of a socket
 * @output: a file without a name
 */
static struct {
	const bt_component_class_source *source;
	const bt_component_class_filter *filter;
	const bt_component_class_sink *sinks[3];
	int parent;
	int output;
} parts;

static const bt_component_class_sink *sink_class(const char *name,
						 bt_component_class_sink_initialize_method init)
{
	bt_component_class_sink *class = bt_component_class_sink_create(name, kr_sink_consume);

	bt_component_class_sink_set_initialize_method(class, init);
	bt_component_class_sink_set_finalize_method(class, kr_sink_finalize);
	bt_component_class_sink_set_graph_is_configured_method(class, kr_sink_configured);
	return class;
}

/* As plugin.c has them. */
static void make_classes(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(kr_symbolize_next);
	bt_component_class_filter *filter;

	parts.source = any_trace_class();
	bt_message_iterator_class_set_initialize_method(iterator, kr_symbolize_init_iterator);
	bt_message_iterator_class_set_finalize_method(iterator, kr_symbolize_finalize_iterator);
	filter = bt_component_class_filter_create("symbolize", iterator);
	bt_component_class_filter_set_initialize_method(filter, kr_symbolize_init);
	bt_component_class_filter_set_finalize_method(filter, kr_symbolize_finalize);
	parts.filter = filter;
	parts.sinks[0] = sink_class("text", kr_text_init);
	parts.sinks[1] = sink_class("perfetto", kr_perfetto_init);
	parts.sinks[2] = sink_class("flamegraph", kr_flamegraph_init);
}

static void make_parts(void)
{
	static const char kallsyms[] = "1000 T _text\n1100 t f\n2000 T g\t[m]\n3000 T _end\n";
	static const char jit[] = "100 10 jit1\n110 20 jit2\n";
	int ends[2];

	/* What is said of a trace would hide what libFuzzer says. */
	stderr = fopen("/dev/null", "w");
	make_classes();
	fuzz_write("kallsyms", (const u8 *)kallsyms, strlen(kallsyms));
	fuzz_write("jit/perf-1.map", (const u8 *)jit, strlen(jit));
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	parts.parent = ends[0];
	g_thread_unref(g_thread_new("parent", be_parent, GINT_TO_POINTER(ends[1])));
	parts.output = memfd_create("output", MFD_CLOEXEC);
	must(parts.output >= 0);
}

static void set(bt_value *params, const char *name, const char *value)
{
	must(!bt_value_map_insert_string_entry(params, name, value));
}

/* A trace and its names, to a port of the sink. */
static void add_trace(bt_graph *graph, const char *name, struct any_bytes *bytes,
		      const bt_port_input *to)
{
	char *kallsyms = g_build_filename(fuzz_folder(), "kallsyms", NULL);
	char *jit = g_build_filename(fuzz_folder(), "jit", NULL);
	char *names = g_strdup_printf("%s-names", name);
	bt_value *params = bt_value_map_create();
	const bt_component_source *source;
	const bt_component_filter *filter;

	set(params, "kallsyms", kallsyms);
	set(params, "jit", jit);
	must(!bt_graph_add_source_component_with_initialize_method_data(
		graph, parts.source, name, NULL, bytes, BT_LOGGING_LEVEL_NONE, &source));
	must(!bt_graph_add_filter_component_with_initialize_method_data(
		graph, parts.filter, names, params, &parts.parent, BT_LOGGING_LEVEL_WARNING,
		&filter));
	must(!bt_graph_connect_ports(
		graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
		bt_component_filter_borrow_input_port_by_index_const(filter, 0), NULL));
	must(!bt_graph_connect_ports(
		graph, bt_component_filter_borrow_output_port_by_index_const(filter, 0), to,
		NULL));
	bt_value_put_ref(params);
	g_free(names);
	g_free(jit);
	g_free(kallsyms);
}

enum form {
	TEXT, PERFETTO, FOLDED, HTML, SUMMARY, TOP, PPROF, SPEEDSCOPE, UFTRACE, NR_FORMS
};

/**
 * struct view - how a trace is shown
 * @form: in which form
 * @colored: with escape sequences
 * @sink: the sink
 */
struct view {
	enum form form;
	bool colored;
	const bt_component_sink *sink;
};

/* One of all forms, with some of its options. */
static void add_view(struct view *view, bt_graph *graph, struct any_bytes *in)
{
	static const char *const formats[NR_FORMS] = {
		[FOLDED] = "folded", [HTML] = "html", [SUMMARY] = "summary", [TOP] = "top",
		[PPROF] = "pprof", [SPEEDSCOPE] = "speedscope", [UFTRACE] = "uftrace",
	};
	char *path = g_strdup_printf("/dev/fd/%d", parts.output);
	bt_value *params = bt_value_map_create();
	u8 form = any_byte(in) % NR_FORMS, how = any_byte(in);

	view->form = form;
	view->colored = form != PERFETTO && how & 8;
	set(params, "path", path);
	if (formats[form])
		set(params, "format", formats[form]);
	if (formats[form] && how & 1)
		set(params, "count", "time");
	if (form != PERFETTO && how & 2)
		set(params, "filter", "f|a");
	if (form != PERFETTO && how & 4)
		set(params, "max-stack", "2");
	if (view->colored)
		set(params, "color", "always");
	if (formats[form] && how & 16)
		set(params, "rows", "4");
	if ((form == HTML || form == TOP) && how & 32)
		set(params, "compare", "yes");
	must(!bt_graph_add_sink_component(graph, parts.sinks[MIN(form, 2)], "view", params,
					  BT_LOGGING_LEVEL_NONE, &view->sink));
	bt_value_put_ref(params);
	g_free(path);
}

/* What was written must be what its form says. */
static void check(const struct view *view)
{
	off_t length = lseek(parts.output, 0, SEEK_END);
	char *bytes = g_malloc((gsize)length + 1);

	must(pread(parts.output, bytes, (size_t)length, 0) == length);
	switch (view->form) {
	case PERFETTO:
		must_be_perfetto(bytes, (gsize)length);
		break;
	case HTML:
		must_be_page(bytes, (gsize)length);
		break;
	case PPROF:
		must_be_pprof(bytes, (gsize)length);
		break;
	case SPEEDSCOPE:
		must_be_speedscope(bytes, (gsize)length);
		break;
	case UFTRACE:
		must_be_uftrace(bytes, (gsize)length);
		break;
	default:
		if (!view->colored)
			must_be_text(bytes, (gsize)length);
	}
	g_free(bytes);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct any_bytes whole = { data, data + size }, parts_of_it[2];
	bt_graph *graph = bt_graph_create(0);
	bt_graph_run_status status;
	struct view view;
	u64 i, sides;

	if (!parts.source)
		make_parts();
	must(!ftruncate(parts.output, 0) && !lseek(parts.output, 0, SEEK_SET));
	add_view(&view, graph, &whole);
	sides = bt_component_sink_get_input_port_count(view.sink);
	must(sides <= G_N_ELEMENTS(parts_of_it));
	for (i = 0; i < sides; i++) {
		parts_of_it[i].at = whole.at + (whole.end - whole.at) * i / sides;
		parts_of_it[i].end = whole.at + (whole.end - whole.at) * (i + 1) / sides;
		add_trace(graph, i ? "before" : "trace", &parts_of_it[i],
			  bt_component_sink_borrow_input_port_by_index_const(view.sink, i));
	}
	do
		status = bt_graph_run(graph);
	while (status == BT_GRAPH_RUN_STATUS_AGAIN);
	must(status == BT_GRAPH_RUN_STATUS_OK);
	bt_graph_put_ref(graph);
	check(&view);
	return 0;
}

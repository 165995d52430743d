// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The Trace Event Format of Chrome. */
#include <inttypes.h>
#include <stdbool.h>
#include "chrome.h"
#include "format.h"
#include "json.h"
#include "numbering.h"
#include "resolved_stack.h"
#include "safe.h"

#define NS_PER_US	1000

/**
 * struct kr_chrome - a trace
 * @out: where its text goes
 * @any: whether there are events
 * @begin: what times are counted from: as microseconds since 1970 they would be too
 *	   great for the viewers' numbers
 * @labels: of frames
 * @strings: the same as JSON, GString *
 * @nodes: frames, as pairs of the caller's node and the label. Their numbers are
 *	   those of the pairs plus 1
 * @label: scratch
 */
struct kr_chrome {
	GString *out;
	bool any;
	int64_t begin;
	struct kr_strings *labels;
	GPtrArray *strings;
	struct kr_pairs *nodes;
	GString *label;
};

static void free_string(gpointer string)
{
	g_string_free(string, TRUE);
}

struct kr_chrome *kr_chrome_new(GString *out)
{
	struct kr_chrome *chrome = g_new0(struct kr_chrome, 1);

	chrome->out = out;
	chrome->labels = kr_strings_new();
	chrome->strings = g_ptr_array_new_with_free_func(free_string);
	chrome->nodes = kr_pairs_new();
	chrome->label = g_string_new(NULL);
	g_string_append(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return chrome;
}

void kr_chrome_free(struct kr_chrome *chrome)
{
	kr_strings_free(chrome->labels);
	kr_pairs_free(chrome->nodes);
	g_string_free(chrome->label, TRUE);
	g_ptr_array_unref(chrome->strings);
	g_free(chrome);
}

void kr_chrome_begin(struct kr_chrome *chrome, int64_t begin)
{
	chrome->begin = begin;
}

static uint32_t add_label(struct kr_chrome *chrome, uint32_t caller)
{
	uint32_t label = kr_strings_add(chrome->labels, chrome->label->str);
	GString *string;

	if (label == chrome->strings->len) {
		string = g_string_new(NULL);
		kr_json_append(string, chrome->label->str);
		g_ptr_array_add(chrome->strings, string);
	}
	return 1 + kr_pairs_add(chrome->nodes, caller, label);
}

static void append_label(struct kr_chrome *chrome, uint32_t label)
{
	const GString *string = g_ptr_array_index(chrome->strings, label);

	g_string_append_len(chrome->out, string->str, string->len);
}

uint32_t kr_chrome_stack(struct kr_chrome *chrome, const struct kr_stack *stack)
{
	const struct kr_colors *colors = kr_colors(false);
	struct kr_stack_frame frame;
	uint32_t node = 0;
	uint64_t i;

	if (!kr_stack_is_whole(stack)) {
		g_string_assign(chrome->label, "[truncated: ");
		kr_safe_append(chrome->label, stack->stop);
		g_string_append_c(chrome->label, ']');
		node = add_label(chrome, node);
	}
	for (i = stack->count; i; i--) {
		kr_stack_frame(stack, i - 1, &frame);
		g_string_truncate(chrome->label, 0);
		kr_format_frame(chrome->label, &frame, colors);
		node = add_label(chrome, node);
	}
	return node;
}

static void append_us(GString *to, int64_t from, int64_t until)
{
	uint64_t ns = from < until ? (uint64_t)until - (uint64_t)from :
				     (uint64_t)from - (uint64_t)until;

	g_string_append_printf(to, "%s%" PRIu64 ".%03" PRIu64,
			       from > until ? "-" : "", ns / NS_PER_US,
			       ns % NS_PER_US);
}

static void append_stack(struct kr_chrome *chrome, uint32_t node)
{
	const char *separator = "";

	g_string_append(chrome->out, "\"stack\":[");
	while (node) {
		struct kr_pair pair = kr_pairs_get(chrome->nodes, node - 1);

		g_string_append(chrome->out, separator);
		append_label(chrome, pair.b);
		separator = ",";
		node = pair.a;
	}
	g_string_append_c(chrome->out, ']');
}

static void begin_event(struct kr_chrome *chrome, int64_t pid, int64_t tid)
{
	g_string_append_printf(chrome->out, "%s{\"pid\":%" PRId64,
			       chrome->any ? ",\n" : "\n", pid);
	if (tid >= 0)
		g_string_append_printf(chrome->out, ",\"tid\":%" PRId64, tid);
	chrome->any = true;
}

void kr_chrome_append(struct kr_chrome *chrome,
		      const struct kr_chrome_event *event)
{
	static const char *const phases[] = {
		[KR_SLICE] = "\"X\"", [KR_OPEN_SLICE] = "\"B\"",
		[KR_INSTANT] = "\"i\",\"s\":\"t\"",
		[KR_GLOBAL_INSTANT] = "\"i\",\"s\":\"g\"",
	};
	GString *out = chrome->out;

	begin_event(chrome, event->pid, event->tid);
	g_string_append_printf(out, ",\"ph\":%s,\"cat\":\"%s\",\"name\":",
			       phases[event->phase], event->category);
	kr_json_append(out, event->name);
	g_string_append(out, ",\"ts\":");
	append_us(out, chrome->begin, event->begin);
	if (event->phase == KR_SLICE) {
		g_string_append(out, ",\"dur\":");
		append_us(out, event->begin, event->end);
	}
	if (event->stack)
		g_string_append_printf(out, ",\"sf\":%" PRIu32, event->stack);
	g_string_append(out, ",\"args\":{");
	if (event->args)
		g_string_append(out, event->args);
	if (event->stack) {
		if (event->args && event->args[0])
			g_string_append_c(out, ',');
		append_stack(chrome, event->stack);
	}
	g_string_append(out, "}}");
}

void kr_chrome_name(struct kr_chrome *chrome, int64_t pid, int64_t tid,
		    const char *name)
{
	begin_event(chrome, pid, tid);
	g_string_append_printf(chrome->out,
		",\"ph\":\"M\",\"name\":\"%s\",\"args\":{\"name\":",
		tid < 0 ? "process_name" : "thread_name");
	kr_json_append(chrome->out, name);
	g_string_append(chrome->out, "}}");
}

void kr_chrome_sort(struct kr_chrome *chrome, int64_t pid, int index)
{
	begin_event(chrome, pid, -1);
	g_string_append_printf(chrome->out,
		",\"ph\":\"M\",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}",
		index);
}

void kr_chrome_end(struct kr_chrome *chrome, const GPtrArray *notes)
{
	GString *out = chrome->out;
	uint32_t i;

	g_string_append(out, "\n],\"stackFrames\":{");
	for (i = 0; i < kr_pairs_count(chrome->nodes); i++) {
		struct kr_pair pair = kr_pairs_get(chrome->nodes, i);

		g_string_append_printf(out, "%s\"%" PRIu32 "\":{\"name\":",
				       i ? ",\n" : "\n", i + 1);
		append_label(chrome, pair.b);
		if (pair.a)
			g_string_append_printf(out, ",\"parent\":\"%" PRIu32 "\"",
					       pair.a);
		g_string_append_c(out, '}');
	}
	g_string_append_printf(out,
		"\n},\"otherData\":{\"begin, ns since 1970\":\"%" PRId64 "\"",
		chrome->begin);
	for (i = 0; i < notes->len; i++) {
		g_string_append_printf(out, ",\"note %" PRIu32 "\":", i + 1);
		kr_json_append(out, g_ptr_array_index(notes, i));
	}
	g_string_append(out, "}}\n");
}

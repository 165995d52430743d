// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The methods of babeltrace2 that are the same in all sinks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "event.h"
#include "format.h"
#include "plugin.h"
#include "sample.h"
#include "sink.h"

const char kr_sink_is_cut[] =
	"this is not the whole trace: it could not be read to its end, or reading it was stopped";
const char kr_sink_no_stacks[] =
	"no event has a resolved call stack: record with lttng add-context --kernel --type=callstack-user, and connect filter.kunwind.symbolize before this sink";

const char *const kr_color_words[] = { "auto", "always", "never", NULL };

static bt_self_component *component(const struct kr_sink *sink)
{
	return bt_self_component_sink_as_self_component(sink->self);
}

static struct kr_sink *sink_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
}

static void free_sink(struct kr_sink *sink)
{
	bt_message_iterator_put_ref(sink->before);
	bt_message_iterator_put_ref(sink->upstream);
	kr_output_drop(&sink->output);
	if (sink->filter)
		g_regex_unref(sink->filter);
	sink->ops->free(sink);
}

bool kr_sink_refuse(const struct kr_sink *sink, const char *name, const char *why)
{
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component(sink),
		"kunwind: parameter %s: %s", name, why);
	return false;
}

static bool open_file(struct kr_sink *sink, const bt_value *params)
{
	const bt_value *path = bt_value_map_borrow_entry_value_const(params, "path");
	const char *to = path ? bt_value_string_get(path) : NULL;

	if (sink->folder && !to)
		return kr_sink_refuse(sink, "path", "a folder is needed");
	if (kr_output_begin_given(&sink->output, to, sink->folder))
		return true;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component(sink),
		"kunwind: %s: %s", bt_value_string_get(path), strerror(errno));
	return false;
}

bt_component_class_initialize_method_status kr_sink_init(
	struct kr_sink *sink, const struct kr_sink_ops *ops,
	bt_self_component_sink *self, const bt_value *params,
	const char *const *names,
	bool (*own_params)(struct kr_sink *sink, const bt_value *params))
{
	bt_self_component_add_port_status status;

	sink->ops = ops;
	sink->self = self;
	status = bt_self_component_sink_add_input_port(self, "in", NULL, NULL);
	if (status) {
		free_sink(sink);
		return (bt_component_class_initialize_method_status)status;
	}
	if (!kr_params_are_known(params, names, component(sink)) ||
	    (own_params && !own_params(sink, params)) || !open_file(sink, params)) {
		free_sink(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (sink->compares)
		status = bt_self_component_sink_add_input_port(self, "before", NULL, NULL);
	if (status) {
		free_sink(sink);
		return (bt_component_class_initialize_method_status)status;
	}
	bt_self_component_set_data(component(sink), sink);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

int kr_sink_choice(struct kr_sink *sink, const bt_value *params, const char *name,
		   const char *const *words)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);
	char *known;
	int i;

	if (!value)
		return 0;
	for (i = 0; words[i]; i++)
		if (!strcmp(bt_value_string_get(value), words[i]))
			return i;
	known = g_strjoinv(", ", (char **)words);
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component(sink),
		"kunwind: parameter %s must be one of: %s", name, known);
	g_free(known);
	return -1;
}

bool kr_sink_number(struct kr_sink *sink, const bt_value *params, const char *name,
		    unsigned int *number)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);
	guint64 parsed = 0;

	if (value && !g_ascii_string_to_unsigned(bt_value_string_get(value), 10, 0,
						 INT_MAX, &parsed, NULL)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component(sink),
			"kunwind: parameter %s must be a number: %s", name,
			bt_value_string_get(value));
		return false;
	}
	*number = (unsigned int)parsed;
	return true;
}

bool kr_sink_take_filter(struct kr_sink *sink, const bt_value *params)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, "filter");
	GError *err = NULL;

	if (!value)
		return true;
	sink->filter = g_regex_new(bt_value_string_get(value), G_REGEX_OPTIMIZE, 0, &err);
	if (!err)
		return true;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component(sink),
		"kunwind: filter: %s", err->message);
	g_error_free(err);
	return false;
}

/* Names of a trace need not be UTF-8, which is all that GRegex takes. */
static bool matches(const GRegex *filter, const char *name)
{
	char *valid = g_utf8_validate(name, -1, NULL) ? NULL :
		      g_utf8_make_valid(name, -1);
	bool found = g_regex_match(filter, valid ?: name, 0, NULL);

	g_free(valid);
	return found;
}

/* What views call an event; NULL: by its own name. What woke a thread is not known yet. */
static const char *shown_name(const struct kr_event *event)
{
	struct kr_sample sample;

	if (kr_sample_of_event(event->event, &sample))
		return "on-CPU";
	return strcmp(event->name, "sched_switch") ? NULL : "off-CPU";
}

bool kr_sink_wants(const struct kr_sink *sink, const struct kr_event *event)
{
	struct kr_stack_frame frame;
	struct kr_stack stack;
	const char *shown;
	uint64_t i;

	if (!sink->filter || matches(sink->filter, event->name) ||
	    matches(sink->filter, event->task.procname))
		return true;
	shown = shown_name(event);
	if (shown && matches(sink->filter, shown))
		return true;
	if (!kr_stack_of_event(event->event, &stack))
		return false;
	for (i = 0; i < stack.count; i++) {
		kr_stack_frame(&stack, i, &frame);
		if (matches(sink->filter, frame.function) ||
		    matches(sink->filter, frame.module))
			return true;
	}
	return false;
}

const struct kr_colors *kr_sink_colors(const struct kr_sink *sink, int choice)
{
	const char *term = getenv("TERM");

	return kr_colors(choice == KR_COLOR_ALWAYS ||
			 (choice == KR_COLOR_AUTO && isatty(sink->output.fd) &&
			  !getenv("NO_COLOR") && g_strcmp0(term, "dumb")));
}

bt_component_class_sink_graph_is_configured_method_status kr_sink_configured(
	bt_self_component_sink *self)
{
	struct kr_sink *sink = sink_of(self);
	bt_message_iterator_create_from_sink_component_status status =
		bt_message_iterator_create_from_sink_component(self,
			bt_self_component_sink_borrow_input_port_by_index(self, 0),
			&sink->upstream);

	if (!status && sink->compares)
		status = bt_message_iterator_create_from_sink_component(self,
			bt_self_component_sink_borrow_input_port_by_index(self, 1),
			&sink->before);
	return (bt_component_class_sink_graph_is_configured_method_status)status;
}

static bool write_out(struct kr_sink *sink, enum kr_so_far so_far)
{
	if (sink->ops->write(sink, so_far) &&
	    (so_far == KR_SOME || kr_output_end(&sink->output))) {
		sink->done = so_far != KR_SOME;
		return true;
	}
	sink->done = true;
	/* At the end of a graph nobody asks for its errors. */
	if (so_far == KR_CUT)
		fprintf(stderr, "kunwind: the output cannot be written: %s\n",
			strerror(errno));
	else
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			component(sink), "kunwind: the output cannot be written: %s",
			strerror(errno));
	return false;
}

bt_component_class_sink_consume_method_status kr_sink_consume(
	bt_self_component_sink *self)
{
	struct kr_sink *sink = sink_of(self);
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t i, n;

	status = bt_message_iterator_next(sink->before ?: sink->upstream, &messages, &n);
	if (sink->before && status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		/* Before its traces go. */
		sink->ops->turn(sink);
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(sink->before);
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	}
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		return write_out(sink, KR_ALL) ?
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_component_class_sink_consume_method_status)status;
	for (i = 0; i < n; i++) {
		sink->ops->message(sink, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return write_out(sink, KR_SOME) ?
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK :
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}

void kr_sink_finalize(bt_self_component_sink *self)
{
	struct kr_sink *sink = sink_of(self);

	if (sink->upstream && !sink->done)
		(void)write_out(sink, KR_CUT);
	free_sink(sink);
}

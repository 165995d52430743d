// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sink.kunwind.text: a system call with its arguments and its result on one line,
 * as strace has it, and below it its stack; other events likewise.
 *
 * A call is printed when it returns, with the stack and the time of its entry. One
 * that does not return, or whose other half is missing, has "?" there.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "format.h"
#include "plugin.h"
#include "safe.h"
#include "stack.h"
#include "text.h"

#define NS_PER_S	1000000000

/**
 * struct text - the component
 * @self: itself
 * @upstream: where messages come from
 * @file: where the text goes
 * @colors: of the text
 * @order: how many calls were entered
 * @calls: struct call of each thread that is in one, by struct thread
 * @out: what is to be written
 */
struct text {
	bt_self_component_sink *self;
	bt_message_iterator *upstream;
	FILE *file;
	const struct kr_colors *colors;
	uint64_t order;
	GHashTable *calls;
	GString *out;
};

struct thread {
	const bt_trace *trace;
	int64_t tid;
};

/**
 * struct call - a system call that was entered
 * @key: whose it is
 * @order: entries are counted, so that the rest is printed in their order
 * @time: in nanoseconds
 * @name: of the system call
 * @head: the line up to the closing parenthesis
 * @stack: the lines below it
 */
struct call {
	struct thread key;
	uint64_t order;
	int64_t time;
	char *name;
	GString *head;
	GString *stack;
};

enum half {
	NO_CALL,
	ENTRY,
	EXIT,
};

static guint hash_thread(gconstpointer data)
{
	const struct thread *thread = data;

	return g_direct_hash(thread->trace) * 31 + (guint)thread->tid;
}

static gboolean equal_threads(gconstpointer a, gconstpointer b)
{
	const struct thread *x = a, *y = b;

	return x->trace == y->trace && x->tid == y->tid;
}

static void free_call(gpointer data)
{
	struct call *call = data;

	g_free(call->name);
	g_string_free(call->head, TRUE);
	g_string_free(call->stack, TRUE);
	g_free(call);
}

/* Return: which half of a system call an event is; *@name is the call's. */
static enum half half_of(const char *event, const char **name)
{
	if (g_str_has_prefix(event, "compat_"))
		event += strlen("compat_");
	if (g_str_has_prefix(event, "syscall_entry_")) {
		*name = event + strlen("syscall_entry_");
		return ENTRY;
	}
	if (g_str_has_prefix(event, "syscall_exit_")) {
		*name = event + strlen("syscall_exit_");
		return EXIT;
	}
	*name = event;
	return NO_CALL;
}

static void append_time(GString *to, int64_t time, const struct kr_colors *colors)
{
	time_t seconds = time / NS_PER_S;
	int64_t rest = time % NS_PER_S;
	struct tm tm;

	if (rest < 0) {
		rest += NS_PER_S;
		seconds--;
	}
	localtime_r(&seconds, &tm);
	g_string_append_printf(to, "%s%02d:%02d:%02d.%09" PRId64 "%s ",
			       colors->time, tm.tm_hour, tm.tm_min, tm.tm_sec,
			       rest, colors->off);
}

/* Append what a line begins with, up to the opening parenthesis or brace. */
static void append_head(struct text *text, GString *to, int64_t time,
			const struct kr_task *task, const char *name)
{
	const struct kr_colors *colors = text->colors;

	append_time(to, time, colors);
	g_string_append(to, colors->task);
	kr_safe_append(to, task->procname);
	if (task->tid >= 0)
		g_string_append_printf(to, "[%" PRId64 "]", task->tid);
	g_string_append(to, colors->off);
	g_string_append_printf(to, " %s", colors->name);
	kr_safe_append(to, name);
	g_string_append(to, colors->off);
}

static void append_stack(struct text *text, GString *to, const bt_event *event)
{
	struct kr_stack stack;

	if (kr_stack_of_event(event, &stack))
		kr_format_stack(to, &stack, text->colors);
}

static void end_call(struct text *text, const struct call *call)
{
	g_string_append(text->out, call->head->str);
	g_string_append(text->out, ") = ?\n");
	g_string_append(text->out, call->stack->str);
}

static void enter(struct text *text, const bt_event *event, int64_t time,
		  const struct kr_task *task, const char *name)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct call *call = g_new0(struct call, 1), *old;

	call->key.trace = bt_stream_borrow_trace_const(
		bt_event_borrow_stream_const(event));
	call->key.tid = task->tid;
	call->order = text->order++;
	call->time = time;
	call->name = g_strdup(name);
	call->head = g_string_new(NULL);
	call->stack = g_string_new(NULL);
	append_head(text, call->head, time, task, name);
	g_string_append_c(call->head, '(');
	if (payload)
		kr_format_members(call->head, payload, NULL);
	append_stack(text, call->stack, event);

	old = g_hash_table_lookup(text->calls, &call->key);
	if (old)
		end_call(text, old);
	g_hash_table_replace(text->calls, &call->key, call);
	/* These do not return. */
	if (task->tid < 0 || !strcmp(name, "exit") || !strcmp(name, "exit_group")) {
		end_call(text, call);
		g_hash_table_remove(text->calls, &call->key);
	}
}

/* The half that is known of a call may be the second. */
static void leave(struct text *text, const bt_event *event, int64_t time,
		  const struct kr_task *task, const char *name)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct thread key = {
		.trace = bt_stream_borrow_trace_const(
			bt_event_borrow_stream_const(event)),
		.tid = task->tid,
	};
	struct call *call = g_hash_table_lookup(text->calls, &key);
	const bt_field *result = NULL;
	GString *out = text->out;
	gsize before;

	if (call && strcmp(call->name, name)) {
		end_call(text, call);
		g_hash_table_remove(text->calls, &key);
		call = NULL;
	}
	if (call) {
		g_string_append_len(out, call->head->str, call->head->len);
	} else {
		append_head(text, out, time, task, name);
		g_string_append(out, "(?");
	}
	if (payload) {
		before = out->len;
		kr_format_members(out, payload, "ret");
		if (out->len > before && out->str[before - 1] != '(')
			g_string_insert(out, before, ", ");
		result = bt_field_structure_borrow_member_field_by_name_const(
			payload, "ret");
	}
	g_string_append(out, ") = ");
	if (result)
		kr_format_result(out, result, text->colors);
	else
		g_string_append_c(out, '?');
	if (call)
		g_string_append_printf(out, " %s<%" PRId64 ".%06" PRId64 ">%s",
			text->colors->time, (time - call->time) / NS_PER_S,
			(time - call->time) % NS_PER_S / 1000, text->colors->off);
	g_string_append_c(out, '\n');
	if (call)
		g_string_append_len(out, call->stack->str, call->stack->len);
	else
		append_stack(text, out, event);
	g_hash_table_remove(text->calls, &key);
}

static void show_event(struct text *text, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const char *name = bt_event_class_get_name(
		bt_event_borrow_class_const(event)) ?: "?";
	struct kr_task task;
	int64_t time = 0;

	/* They are for the filter. */
	if (g_str_has_prefix(name, "kunwind_"))
		return;
	if (bt_message_event_borrow_stream_class_default_clock_class_const(message))
		(void)bt_clock_snapshot_get_ns_from_origin(
			bt_message_event_borrow_default_clock_snapshot_const(message),
			&time);
	kr_task_of_event(event, &task);
	switch (half_of(name, &name)) {
	case ENTRY:
		enter(text, event, time, &task, name);
		break;
	case EXIT:
		leave(text, event, time, &task, name);
		break;
	case NO_CALL:
		append_head(text, text->out, time, &task, name);
		g_string_append(text->out, " { ");
		if (payload)
			kr_format_members(text->out, payload, NULL);
		g_string_append(text->out, " }\n");
		append_stack(text, text->out, event);
		break;
	}
}

static gint compare_calls(gconstpointer a, gconstpointer b)
{
	const struct call *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static void end_calls(struct text *text)
{
	GList *calls = g_list_sort(g_hash_table_get_values(text->calls),
				   compare_calls), *at;

	for (at = calls; at; at = at->next)
		end_call(text, at->data);
	g_list_free(calls);
	g_hash_table_remove_all(text->calls);
}

static bool write_out(struct text *text)
{
	bool done = fwrite(text->out->str, 1, text->out->len, text->file) ==
		    text->out->len && !fflush(text->file);

	g_string_truncate(text->out, 0);
	if (!done)
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			bt_self_component_sink_as_self_component(text->self),
			"kunwind: the text cannot be written: %s",
			strerror(errno));
	return done;
}

bt_component_class_sink_consume_method_status kr_text_consume(
	bt_self_component_sink *self)
{
	struct text *text = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t i, n;

	status = bt_message_iterator_next(text->upstream, &messages, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		end_calls(text);
		return write_out(text) ?
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_component_class_sink_consume_method_status)status;
	for (i = 0; i < n; i++) {
		if (bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_EVENT)
			show_event(text, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return write_out(text) ?
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK :
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}

bt_component_class_sink_graph_is_configured_method_status kr_text_configured(
	bt_self_component_sink *self)
{
	struct text *text = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	return (bt_component_class_sink_graph_is_configured_method_status)
		bt_message_iterator_create_from_sink_component(self,
			bt_self_component_sink_borrow_input_port_by_index(self, 0),
			&text->upstream);
}

static void free_text(struct text *text)
{
	bt_message_iterator_put_ref(text->upstream);
	if (text->file && text->file != stdout)
		fclose(text->file);
	g_hash_table_destroy(text->calls);
	g_string_free(text->out, TRUE);
	g_free(text);
}

static bool read_params(struct text *text, const bt_value *params)
{
	static const char *const names[] = { "color", "path", NULL };
	bt_self_component *self =
		bt_self_component_sink_as_self_component(text->self);
	const bt_value *color, *path;
	const char *when = "auto";

	if (!kr_params_are_known(params, names, self))
		return false;
	color = bt_value_map_borrow_entry_value_const(params, "color");
	path = bt_value_map_borrow_entry_value_const(params, "path");
	if (color)
		when = bt_value_string_get(color);
	if (strcmp(when, "auto") && strcmp(when, "always") && strcmp(when, "never")) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
			"kunwind: color must be auto, always or never");
		return false;
	}
	text->file = path ? fopen(bt_value_string_get(path), "we") : stdout;
	if (!text->file) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
			"kunwind: %s: %s", bt_value_string_get(path),
			strerror(errno));
		return false;
	}
	text->colors = kr_colors(!strcmp(when, "always") ||
				 (!strcmp(when, "auto") &&
				  isatty(fileno(text->file)) &&
				  !getenv("NO_COLOR")));
	return true;
}

bt_component_class_initialize_method_status kr_text_init(
	bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data)
{
	struct text *text;
	int status;

	(void)config;
	(void)data;
	status = bt_self_component_sink_add_input_port(self, "in", NULL, NULL);
	if (status)
		return status;
	text = g_new0(struct text, 1);
	text->self = self;
	text->calls = g_hash_table_new_full(hash_thread, equal_threads, NULL,
					    free_call);
	text->out = g_string_new(NULL);
	if (!read_params(text, params)) {
		free_text(text);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self),
				   text);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void kr_text_finalize(bt_self_component_sink *self)
{
	free_text(bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self)));
}

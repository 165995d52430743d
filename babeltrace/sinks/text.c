// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sink.kunwind.text: a system call with its arguments and its result on one line,
 * as strace has it, and below it its stack; other events likewise.
 *
 * A call is printed when it returns, with the stack and the time of its entry. One
 * that does not return, or whose other half is missing, has "?" there. So has one during
 * which events were lost: what returns then may be another one.
 */
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "arguments.h"
#include "event.h"
#include "format.h"
#include "resolved_stack.h"
#include "safe.h"
#include "sink.h"
#include "text.h"
#include "traced_machine.h"

#define NS_PER_S	1000000000

/**
 * struct text - the component
 * @sink: what all sinks have
 * @color: enum kr_color
 * @colors: of the text
 * @max_stack: frames that are shown of a stack; 0: all
 * @machines: if there are several, each line says on which it was
 * @order: how many calls were entered
 * @calls: struct call of each thread that is in one, by struct kr_thread
 * @losses: what was lost so far
 * @out: what is to be written
 */
struct text {
	struct kr_sink sink;
	int color;
	unsigned int max_stack;
	const struct kr_colors *colors;
	struct kr_machines *machines;
	uint64_t order;
	GHashTable *calls;
	struct kr_losses losses;
	GString *out;
};

/**
 * struct call - a system call that was entered
 * @key: whose it is
 * @order: entries are counted, so that the rest is printed in their order
 * @time: in nanoseconds
 * @mark: of struct kr_losses
 * @name: of the system call
 * @shown: the class of its arguments, or NULL
 * @head: the line up to the closing parenthesis
 * @stack: the lines below it
 */
struct call {
	struct kr_thread key;
	uint64_t order;
	int64_t time;
	uint64_t mark;
	char *name;
	const bt_field_class *shown;
	GString *head;
	GString *stack;
};

static void free_call(gpointer data)
{
	struct call *call = data;

	g_free(call->name);
	g_string_free(call->head, TRUE);
	g_string_free(call->stack, TRUE);
	g_free(call);
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

/* It can be longer than any time. */
static void append_duration(GString *to, int64_t begin, int64_t end,
			    const struct kr_colors *colors)
{
	uint64_t ns = end > begin ? (uint64_t)end - (uint64_t)begin : 0;

	g_string_append_printf(to, " %s<%" PRIu64 ".%06" PRIu64 ">%s", colors->time,
			       ns / NS_PER_S, ns % NS_PER_S / 1000, colors->off);
}

/* Append what a line begins with, up to the opening parenthesis or brace. */
static void append_head(struct text *text, GString *to,
			const struct kr_event *event)
{
	const struct kr_colors *colors = text->colors;

	append_time(to, event->time, colors);
	g_string_append(to, colors->task);
	if (text->machines->machines->len > 1) {
		kr_safe_append(to, kr_machine_of(text->machines,
						 event->thread.trace)->name);
		g_string_append(to, ": ");
	}
	kr_safe_append(to, event->task.procname);
	if (event->task.tid >= 0)
		g_string_append_printf(to, "[%" PRId64 "]", event->task.tid);
	g_string_append(to, colors->off);
	g_string_append_printf(to, " %s", colors->name);
	kr_safe_append(to, event->name);
	g_string_append(to, colors->off);
}

static void append_stack(struct text *text, GString *to, const bt_event *event)
{
	struct kr_stack stack;

	if (kr_stack_of_event(event, &stack))
		kr_format_stack(to, &stack, text->colors, text->max_stack);
}

static void end_call(struct text *text, const struct call *call)
{
	g_string_append(text->out, call->head->str);
	g_string_append(text->out, ") = ?\n");
	g_string_append(text->out, call->stack->str);
}

static void enter(struct text *text, const struct kr_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event->event);
	struct call *call = g_new0(struct call, 1), *old;

	call->key = event->thread;
	call->order = text->order++;
	call->time = event->time;
	call->mark = kr_losses_mark(&text->losses, event->time);
	call->name = g_strdup(event->name);
	call->head = g_string_new(NULL);
	call->stack = g_string_new(NULL);
	append_head(text, call->head, event);
	g_string_append_c(call->head, '(');
	if (payload) {
		call->shown = bt_field_borrow_class_const(payload);
		kr_format_arguments(call->head, event->name, payload, NULL);
	}
	append_stack(text, call->stack, event->event);

	old = g_hash_table_lookup(text->calls, &call->key);
	if (old)
		end_call(text, old);
	g_hash_table_replace(text->calls, &call->key, call);
	/* These do not return. */
	if (event->task.tid < 0 || !strcmp(event->name, "exit") ||
	    !strcmp(event->name, "exit_group")) {
		end_call(text, call);
		g_hash_table_remove(text->calls, &call->key);
	}
}

/* No exit that comes belongs to the thread's call before. */
static void end_before(struct text *text, const struct kr_event *event)
{
	const struct call *call = g_hash_table_lookup(text->calls, &event->thread);

	if (call)
		end_call(text, call);
	g_hash_table_remove(text->calls, &event->thread);
}

/* Of a call during which events were lost, the exit may be lost: this is none of it. */
static void end_unsure(struct text *text, const struct kr_event *event)
{
	const struct call *call = g_hash_table_lookup(text->calls, &event->thread);

	if (call && kr_losses_since(&text->losses, call->mark))
		end_before(text, event);
}

/* The half that is known of a call may be the second. */
static void leave(struct text *text, const struct kr_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event->event);
	const struct call *call = g_hash_table_lookup(text->calls, &event->thread);
	const bt_field *result = NULL;
	GString *out = text->out;
	gsize before;

	if (call && strcmp(call->name, event->name)) {
		end_before(text, event);
		call = NULL;
	}
	if (call) {
		g_string_append_len(out, call->head->str, call->head->len);
	} else {
		append_head(text, out, event);
		g_string_append(out, "(?");
	}
	if (payload) {
		before = out->len;
		kr_format_arguments(out, event->name, payload,
				    call ? call->shown : NULL);
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
		append_duration(out, call->time, event->time, text->colors);
	g_string_append_c(out, '\n');
	if (call)
		g_string_append_len(out, call->stack->str, call->stack->len);
	else
		append_stack(text, out, event->event);
	g_hash_table_remove(text->calls, &event->thread);
}

static void show_message(struct kr_sink *sink, const bt_message *message)
{
	struct text *text = (struct text *)sink;
	const bt_field *payload;
	struct kr_event event;
	struct kr_loss loss;

	/* All streams begin before the first event, unless the trace is live. */
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
		(void)kr_machine_of(text->machines, bt_stream_borrow_trace_const(
			bt_message_stream_beginning_borrow_stream_const(message)));
	kr_losses_take_dump(&text->losses, message);
	if (kr_loss_of_message(message, &loss))
		kr_losses_add(&text->losses, &loss);
	if (!kr_event_of_message(message, &event))
		return;
	switch (event.half) {
	case KR_ENTRY:
		if (kr_sink_wants(sink, &event))
			enter(text, &event);
		else
			end_before(text, &event);
		break;
	case KR_EXIT:
		end_unsure(text, &event);
		/* Of one whose entry is not shown, neither is the exit. */
		if (!sink->filter || g_hash_table_contains(text->calls, &event.thread))
			leave(text, &event);
		break;
	case KR_NO_CALL:
		if (!kr_sink_wants(sink, &event))
			break;
		payload = bt_event_borrow_payload_field_const(event.event);
		append_head(text, text->out, &event);
		g_string_append(text->out, " { ");
		if (payload)
			kr_format_members(text->out, payload);
		g_string_append(text->out, " }\n");
		append_stack(text, text->out, event.event);
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

static bool write_text(struct kr_sink *sink, enum kr_so_far so_far)
{
	struct text *text = (struct text *)sink;

	if (so_far != KR_SOME)
		end_calls(text);
	return kr_output_write(&sink->output, text->out);
}

static void free_text(struct kr_sink *sink)
{
	struct text *text = (struct text *)sink;

	kr_losses_clear(&text->losses);
	g_hash_table_destroy(text->calls);
	g_string_free(text->out, TRUE);
	kr_machines_free(text->machines);
	g_free(text);
}

static bool read_params(struct kr_sink *sink, const bt_value *params)
{
	struct text *text = (struct text *)sink;

	text->color = kr_sink_choice(sink, params, "color", kr_color_words);
	return text->color >= 0 && kr_sink_take_filter(sink, params) &&
	       kr_sink_number(sink, params, "max-stack", &text->max_stack);
}

bt_component_class_initialize_method_status kr_text_init(
	bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data)
{
	static const char *const names[] = { "color", "filter", "max-stack", "path", NULL };
	static const struct kr_sink_ops ops = {
		.message = show_message, .write = write_text, .free = free_text,
	};
	struct text *text = g_new0(struct text, 1);
	bt_component_class_initialize_method_status status;

	(void)config;
	(void)data;
	text->calls = g_hash_table_new_full(kr_hash_thread, kr_equal_threads, NULL,
					    free_call);
	text->out = g_string_new(NULL);
	text->machines = kr_machines_new();
	status = kr_sink_init(&text->sink, &ops, self, params, names, read_params);
	if (status == BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		text->colors = kr_sink_colors(&text->sink, text->color);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A bar of progress, by the time of the event that is read, between those of the
 * first and the last one, which source.ctf.fs knows from the headers of packets.
 */
#include <glib.h>
#include <stdio.h>
#include "progress.h"

/* Silence beyond this long is filled. */
#define SILENT_FOR_S	2

#define WIDTH		40

/* A filter, and what is known of all of them. */
struct filter {
	struct kc_progress *progress;
	bt_self_component_filter *self;
};

static int64_t value_in(const bt_value *map, const char *name, int64_t otherwise)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, name);

	return value && bt_value_is_signed_integer(value) ?
	       bt_value_integer_signed_get(value) : otherwise;
}

static void add_trace(struct kc_progress *progress, const bt_value *trace)
{
	const bt_value *streams =
		bt_value_map_borrow_entry_value_const(trace, "stream-infos");
	const bt_value *range;
	uint64_t i, n = streams ? bt_value_array_get_length(streams) : 0;

	for (i = 0; i < n; i++) {
		range = bt_value_map_borrow_entry_value_const(
			bt_value_array_borrow_element_by_index_const(streams, i),
			"range-ns");
		if (!range)
			continue;
		progress->first = MIN(progress->first,
				      value_in(range, "begin", INT64_MAX));
		progress->last = MAX(progress->last, value_in(range, "end", INT64_MIN));
	}
}

void kc_progress_add(struct kc_progress *progress,
		     const bt_component_class_source *class,
		     const bt_value *params)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class),
		"babeltrace.trace-infos", params);
	const bt_value *traces = NULL;
	uint64_t i;

	if (executor && !bt_query_executor_query(executor, &traces))
		for (i = 0; i < bt_value_array_get_length(traces); i++)
			add_trace(progress,
				  bt_value_array_borrow_element_by_index_const(traces, i));
	/* What is wrong with a trace is said when it is read. */
	bt_current_thread_clear_error();
	bt_value_put_ref(traces);
	bt_query_executor_put_ref(executor);
}

static void say(struct kc_progress *progress, time_t seconds, int64_t now)
{
	static const char full[] = "########################################";
	double part = 0;

	progress->said = seconds;
	if (progress->last > progress->first)
		part = ((double)now - (double)progress->first) /
		       ((double)progress->last - (double)progress->first);
	part = CLAMP(part, 0, 1);
	fprintf(stderr, "\rkunwind: reading the trace [%-*.*s] %3d %%, %ld s", WIDTH,
		(int)(part * WIDTH), full, (int)(part * 100),
		(long)(seconds - progress->begin));
}

static void notice(struct kc_progress *progress, const bt_message *message)
{
	time_t seconds = progress->silent ? 0 : time(NULL);
	int64_t now;

	if (progress->silent || seconds - progress->begin < SILENT_FOR_S || seconds == progress->said)
		return;
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT &&
	    bt_message_event_borrow_stream_class_default_clock_class_const(message) &&
	    !bt_clock_snapshot_get_ns_from_origin(
		    bt_message_event_borrow_default_clock_snapshot_const(message), &now))
		say(progress, seconds, now);
}

static bool is_of_maps(const bt_message *message)
{
	return g_str_has_prefix(bt_event_class_get_name(bt_event_borrow_class_const(
		bt_message_event_borrow_event_const(message))) ?: "", "kunwind_");
}

static void count_lost_events(struct kc_progress *progress, const bt_message *message)
{
	uint64_t count = 1;

	(void)bt_message_discarded_events_get_count(message, &count);
	progress->lost += count;
}

static void count_lost_packets(struct kc_progress *progress, const bt_message *message)
{
	uint64_t count = 1;

	(void)bt_message_discarded_packets_get_count(message, &count);
	progress->lost_packets += count;
}

static bool take_event(struct kc_progress *progress, const bt_message *message)
{
	if (is_of_maps(message))
		return !progress->raw;
	progress->events++;
	*progress->begun = true;
	return true;
}

/*
 * Return: whether a message is passed on. babeltrace2's own sink would print a loss with names
 * that the owner of the trace chose, to the terminal as they are.
 */
static bool take(struct kc_progress *progress, const bt_message *message)
{
	bt_message_type type = bt_message_get_type(message);

	if (type == BT_MESSAGE_TYPE_EVENT)
		return take_event(progress, message);
	if (!progress->raw)
		return true;
	if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS)
		count_lost_events(progress, message);
	else if (type == BT_MESSAGE_TYPE_DISCARDED_PACKETS)
		count_lost_packets(progress, message);
	else
		return true;
	return false;
}

static bt_message_iterator_class_next_method_status
next(bt_self_message_iterator *self, bt_message_array_const out, uint64_t capacity,
     uint64_t *count)
{
	const struct filter *filter = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));
	struct kc_progress *progress = filter->progress;
	bt_message_iterator_next_status status;
	bt_message_array_const in;
	uint64_t i, n;

	/* All iterators of a graph have the same capacity. */
	(void)capacity;
	*count = 0;
	do {
		status = bt_message_iterator_next(
			bt_self_message_iterator_get_data(self), &in, &n);
		for (i = 0; !status && i < n; i++) {
			if (take(progress, in[i]))
				out[(*count)++] = in[i];
			else
				bt_message_put_ref(in[i]);
		}
	} while (!status && !*count);
	if (!status)
		notice(progress, out[*count - 1]);
	else if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		/* Before others say what is missing. */
		kc_progress_end(progress);
	return (bt_message_iterator_class_next_method_status)status;
}

static bt_message_iterator_class_initialize_method_status
init_iterator(bt_self_message_iterator *self,
	      bt_self_message_iterator_configuration *config,
	      bt_self_component_port_output *port)
{
	const struct filter *filter = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));
	bt_message_iterator_create_from_message_iterator_status status;
	bt_message_iterator *upstream = NULL;

	(void)config;
	(void)port;
	status = bt_message_iterator_create_from_message_iterator(self,
		bt_self_component_filter_borrow_input_port_by_index(filter->self, 0),
		&upstream);
	bt_self_message_iterator_set_data(self, upstream);
	return (bt_message_iterator_class_initialize_method_status)status;
}

static void finalize_iterator(bt_self_message_iterator *self)
{
	bt_message_iterator_put_ref(bt_self_message_iterator_get_data(self));
}

static bt_component_class_initialize_method_status
init(bt_self_component_filter *self, bt_self_component_filter_configuration *config,
     const bt_value *params, void *data)
{
	struct filter *filter = g_new0(struct filter, 1);
	bt_self_component_add_port_status status;

	(void)config;
	(void)params;
	filter->progress = data;
	filter->self = self;
	bt_self_component_set_data(bt_self_component_filter_as_self_component(self),
				   filter);
	status = bt_self_component_filter_add_input_port(self, "in", NULL, NULL);
	if (!status)
		status = bt_self_component_filter_add_output_port(self, "out", NULL,
								  NULL);
	return (bt_component_class_initialize_method_status)status;
}

static void finalize(bt_self_component_filter *self)
{
	g_free(bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self)));
}

static bt_component_class_filter *make_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(next);
	bt_component_class_filter *class = NULL;

	if (iterator &&
	    !bt_message_iterator_class_set_initialize_method(iterator, init_iterator) &&
	    !bt_message_iterator_class_set_finalize_method(iterator, finalize_iterator))
		class = bt_component_class_filter_create("progress", iterator);
	bt_message_iterator_class_put_ref(iterator);
	if (class) {
		(void)bt_component_class_filter_set_initialize_method(class, init);
		(void)bt_component_class_filter_set_finalize_method(class, finalize);
	}
	return class;
}

const bt_component_filter *kc_progress_filter(bt_graph *graph,
					      const char *name,
					      struct kc_progress *progress)
{
	bt_component_class_filter *class = make_class();
	const bt_component_filter *filter = NULL;

	if (class)
		(void)bt_graph_add_filter_component_with_initialize_method_data(graph,
			class, name, NULL, progress, BT_LOGGING_LEVEL_NONE,
			&filter);
	bt_component_class_filter_put_ref(class);
	return filter;
}

void kc_progress_end(struct kc_progress *progress)
{
	if (progress->said)
		fputs("\r\033[K", stderr);
	progress->said = 0;
}

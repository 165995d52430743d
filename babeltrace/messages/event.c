// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Events and losses, as sinks see them. */
#include <string.h>
#include "event.h"
#include "secret_hash.h"

guint kr_hash_thread(gconstpointer data)
{
	const struct kr_thread *thread = data;

	return kr_hash_two(g_direct_hash(thread->trace), kr_hash_number(&thread->tid));
}

gboolean kr_equal_threads(gconstpointer a, gconstpointer b)
{
	const struct kr_thread *x = a, *y = b;

	return x->trace == y->trace && x->tid == y->tid;
}

enum kr_half kr_call_of(const char **name)
{
	const char *event = *name ?: "?";

	*name = event;
	if (g_str_has_prefix(event, "compat_"))
		event += strlen("compat_");
	if (g_str_has_prefix(event, "syscall_entry_")) {
		*name = event + strlen("syscall_entry_");
		return KR_ENTRY;
	}
	if (g_str_has_prefix(event, "syscall_exit_")) {
		*name = event + strlen("syscall_exit_");
		return KR_EXIT;
	}
	return KR_NO_CALL;
}

bool kr_is_exec(const bt_event *event)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));

	return kr_call_of(&name) == KR_EXIT && g_str_has_prefix(name, "execve");
}

bool kr_event_of_message(const bt_message *message, struct kr_event *event)
{
	const char *name;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return false;
	event->event = bt_message_event_borrow_event_const(message);
	name = bt_event_class_get_name(
		bt_event_borrow_class_const(event->event)) ?: "?";
	if (g_str_has_prefix(name, "kunwind_"))
		return false;
	event->name = name;
	event->half = kr_call_of(&event->name);
	event->time = 0;
	if (bt_message_event_borrow_stream_class_default_clock_class_const(message))
		(void)bt_clock_snapshot_get_ns_from_origin(
			bt_message_event_borrow_default_clock_snapshot_const(message),
			&event->time);
	kr_task_of_event(event->event, &event->task);
	event->thread.trace = bt_stream_borrow_trace_const(
		bt_event_borrow_stream_const(event->event));
	event->thread.tid = event->task.tid;
	return true;
}

static void set_stream(struct kr_loss *loss, const bt_stream *stream)
{
	loss->trace = bt_stream_borrow_trace_const(stream);
	loss->class = bt_stream_borrow_class_const(stream);
	loss->stream = bt_stream_get_id(stream);
}

static void set_times(struct kr_loss *loss, const bt_clock_snapshot *begin,
		      const bt_clock_snapshot *end)
{
	loss->timed =
		bt_clock_snapshot_get_ns_from_origin(begin, &loss->begin) ==
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK &&
		bt_clock_snapshot_get_ns_from_origin(end, &loss->end) ==
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;
}

bool kr_loss_of_message(const bt_message *message, struct kr_loss *loss)
{
	bt_message_type type = bt_message_get_type(message);
	const bt_stream_class *class;
	const bt_stream *stream;

	memset(loss, 0, sizeof(*loss));
	if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
		stream = bt_message_discarded_events_borrow_stream_const(message);
		class = bt_stream_borrow_class_const(stream);
		(void)bt_message_discarded_events_get_count(message, &loss->count);
		if (bt_stream_class_discarded_events_have_default_clock_snapshots(class))
			set_times(loss,
				bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message),
				bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message));
	} else if (type == BT_MESSAGE_TYPE_DISCARDED_PACKETS) {
		stream = bt_message_discarded_packets_borrow_stream_const(message);
		class = bt_stream_borrow_class_const(stream);
		loss->packets = true;
		(void)bt_message_discarded_packets_get_count(message, &loss->count);
		if (bt_stream_class_discarded_packets_have_default_clock_snapshots(class))
			set_times(loss,
				bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(message),
				bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message));
	} else {
		return false;
	}
	set_stream(loss, stream);
	return true;
}

void kr_losses_clear(struct kr_losses *losses)
{
	g_clear_pointer(&losses->dumped, g_hash_table_destroy);
	*losses = (struct kr_losses){ 0 };
}

void kr_losses_take_dump(struct kr_losses *losses, const bt_message *message)
{
	const bt_event *event;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return;
	event = bt_message_event_borrow_event_const(message);
	if (g_strcmp0(bt_event_class_get_name(bt_event_borrow_class_const(event)),
		      KR_DUMP_BEGIN))
		return;
	if (!losses->dumped)
		losses->dumped = g_hash_table_new(NULL, NULL);
	if (!g_hash_table_add(losses->dumped, (gpointer)bt_stream_borrow_class_const(
				      bt_event_borrow_stream_const(event))))
		losses->restarts++;
}

void kr_losses_add(struct kr_losses *losses, const struct kr_loss *loss)
{
	losses->count++;
	if (loss->timed && loss->end > losses->until)
		losses->until = loss->end;
}

uint64_t kr_losses_mark(const struct kr_losses *losses, int64_t now)
{
	/* In the midst of a loss: no later count is this one. */
	return losses->count && now < losses->until ? UINT64_MAX :
						      losses->count + losses->restarts;
}

bool kr_losses_since(const struct kr_losses *losses, uint64_t mark)
{
	return losses->count + losses->restarts != mark;
}

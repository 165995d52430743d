// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What waits before it is handled: see queue.h. */
#include <stdio.h>
#include "event.h"
#include "event_bytes.h"
#include "filter.h"
#include "history.h"
#include "maps.h"
#include "mirror.h"
#include "queue.h"
#include "reader_budgets.h"

static void settle_all(struct kr_queue *q)
{
	GHashTableIter iter;
	gpointer history;

	g_hash_table_iter_init(&iter, q->histories);
	while (g_hash_table_iter_next(&iter, NULL, &history))
		if (((struct kr_history *)history)->past)
			kr_history_give_up(history);
	q->awaiting = 0;
}

/* A person who looks at a live session learns why there are no names before it ends. */
static void say_no_dump(const struct kr_queue *q)
{
	if (!kr_filter_may_warn(q->filter))
		return;
	fflush(stdout);
	fputs("kunwind: warning: no state dump came, so what was mapped before the viewer is shown as numbers: "
	      "lttng regenerate statedump --session=NAME records another\n", stderr);
}

/* A live trace in which nothing happens says what time it is. */
static void notice_time(struct kr_queue *q, const bt_message *message)
{
	GHashTableIter iter;
	gpointer history;
	int64_t now;

	if (!q->live || bt_clock_snapshot_get_ns_from_origin(
		bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(
			message), &now))
		return;
	g_hash_table_iter_init(&iter, q->histories);
	while (g_hash_table_iter_next(&iter, NULL, &history)) {
		struct kr_history *one = history;

		if (!one->past || now <= one->until)
			continue;
		kr_history_settle(one);
		say_no_dump(q);
		q->awaiting--;
	}
}

static void notice(struct kr_queue *q, const bt_message *message)
{
	const struct kr_event_class *class;
	struct kr_history *history;
	const bt_event *event;
	struct kr_loss loss;
	bool waited;

	if (kr_loss_of_message(message, &loss) && kr_maps_are_in(loss.class))
		kr_history_notice_loss(kr_history_of_trace(q->histories, loss.trace));
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY)
		notice_time(q, message);
	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return;
	event = bt_message_event_borrow_event_const(message);
	history = kr_history_of_event(q->histories, event);
	class = kr_mirror_event_class(q->mirror,
				      bt_event_borrow_class_const(event));
	if (!class)
		return;
	waited = history->past;
	kr_history_notice(history, message, class, q->filter->modules, q->live);
	q->awaiting += (history->past != NULL) - waited;
	if (waited && !history->past && class->maps != KR_MAPS_DUMP_END)
		say_no_dump(q);
}

/* A message was noticed. Wait no longer if too much would wait. */
static void hold(struct kr_queue *q, const bt_message *message)
{
	if (!q->awaiting) {
		q->held = 0;
		return;
	}
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT)
		q->held += kr_event_bytes(bt_message_event_borrow_event_const(message));
	if (q->seen - q->next >= KR_WAITING || q->held >= KR_WAITING_BYTES)
		settle_all(q);
}

static bt_message_iterator_next_status pull(struct kr_queue *q)
{
	bt_message_iterator_next_status status;
	bt_message_array_const in;
	uint64_t i, n;

	if (q->end)
		return q->end;
	kr_queue_move_error(q);
	status = bt_message_iterator_next(q->upstream, &in, &n);
	/* source.ctf.fs leaves one that it will only tell of next time. */
	q->error = bt_current_thread_take_error();
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		for (i = 0; i < n; i++)
			g_ptr_array_add(q->messages, (gpointer)in[i]);
	else if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		q->live = true;
	else
		q->end = status;
	return status;
}

bt_message_iterator_next_status kr_queue_advance(struct kr_queue *q)
{
	bt_message_iterator_next_status status;

	while (q->awaiting || q->next == q->seen) {
		if (q->next == q->messages->len) {
			g_ptr_array_set_size(q->messages, 0);
			q->next = 0;
			q->seen = 0;
		}
		if (q->seen < q->messages->len) {
			notice(q, g_ptr_array_index(q->messages, q->seen));
			hold(q, g_ptr_array_index(q->messages, q->seen++));
			continue;
		}
		if (bt_self_message_iterator_is_interrupted(q->self))
			return BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN;
		status = pull(q);
		if (q->end && q->next < q->seen)
			settle_all(q);
		else if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
			return status;
	}
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
}

const bt_message *kr_queue_take(struct kr_queue *q)
{
	return g_ptr_array_index(q->messages, q->next++);
}

const bt_message *kr_queue_ahead(struct kr_queue *q, guint n)
{
	guint i = q->next + n;

	if (i == q->messages->len && (n >= KR_AHEAD || pull(q)))
		return NULL;
	return g_ptr_array_index(q->messages, i);
}

void kr_queue_move_error(struct kr_queue *q)
{
	if (q->error)
		bt_current_thread_move_error(q->error);
	q->error = NULL;
}

void kr_queue_empty(struct kr_queue *q)
{
	for (; q->next < q->messages->len; q->next++)
		bt_message_put_ref(g_ptr_array_index(q->messages, q->next));
	g_ptr_array_set_size(q->messages, 0);
	q->next = 0;
	q->seen = 0;
	q->awaiting = 0;
	q->end = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	if (q->error)
		bt_error_release(q->error);
	q->error = NULL;
}

void kr_queue_init(struct kr_queue *q)
{
	q->messages = g_ptr_array_new();
}

void kr_queue_fini(struct kr_queue *q)
{
	kr_queue_empty(q);
	g_ptr_array_unref(q->messages);
	bt_message_iterator_put_ref(q->upstream);
}

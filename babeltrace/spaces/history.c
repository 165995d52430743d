// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a trace tells of the time before its state dump. */
#include <glib.h>
#include "history.h"
#include "maps.h"
#include "mirror.h"
#include "reader_budgets.h"
#include "resolve.h"
#include "traced_space.h"

static struct kr_history *new_history(void)
{
	struct kr_history *history = g_new0(struct kr_history, 1);

	history->spaces = kr_spaces_new();
	history->until = INT64_MAX;
	return history;
}

static void free_history(struct kr_history *history)
{
	kr_spaces_free(history->spaces);
	if (history->past)
		kr_spaces_free(history->past);
	g_free(history);
}

GHashTable *kr_histories_new(void)
{
	return g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)free_history);
}

struct kr_history *kr_history_of_trace(GHashTable *histories, const bt_trace *trace)
{
	struct kr_history *history = g_hash_table_lookup(histories, trace);

	if (!history) {
		history = new_history();
		g_hash_table_insert(histories, (void *)trace, history);
	}
	return history;
}

struct kr_history *kr_history_of_event(GHashTable *histories, const bt_event *event)
{
	return kr_history_of_trace(histories, bt_stream_borrow_trace_const(
		bt_event_borrow_stream_const(event)));
}

void kr_history_settle(struct kr_history *history)
{
	/* What a dump has may have come by what was lost. */
	kr_spaces_add(history->spaces, history->past, !history->lost);
	kr_spaces_free(history->past);
	history->past = NULL;
}

void kr_history_give_up(struct kr_history *history)
{
	kr_history_settle(history);
	history->until = INT64_MIN;
}

static int64_t time_of(const bt_message *message)
{
	int64_t time = 0;

	if (bt_message_event_borrow_stream_class_default_clock_class_const(message))
		(void)bt_clock_snapshot_get_ns_from_origin(
			bt_message_event_borrow_default_clock_snapshot_const(message),
			&time);
	return time;
}

static bool has_dump(const bt_event *event)
{
	const bt_stream_class *class = bt_event_class_borrow_stream_class_const(
		bt_event_borrow_class_const(event));

	return kr_maps_can_be_dumped(
		bt_stream_class_borrow_trace_class_const(class));
}

/* Return: whether the event is about something that was mapped before. */
static bool needs_past(const struct kr_history *history, const bt_event *event,
		       const struct kr_event_class *class)
{
	const struct kr_context *context = &class->stream_class->context;
	const bt_field *from;

	if (class->maps)
		return kr_maps_need_past(class->maps, event, history->spaces);
	from = bt_event_borrow_common_context_field_const(event);
	return context->stack >= 0 &&
	       !kr_resolve_can(history->spaces, context, from) &&
	       /* What is told of a new program comes soon, without a dump. */
	       !(kr_is_exec(event) &&
		 kr_resolve_new_space(history->spaces, context, from, NULL));
}

/* Who wrote the trace chose the time. INT64_MAX itself means something else. */
static int64_t patience_from(int64_t now)
{
	return MIN(now, INT64_MAX - 1 - KR_DUMP_NS) + KR_DUMP_NS;
}

void kr_history_notice(struct kr_history *history, const bt_message *message,
		       const struct kr_event_class *class,
		       struct kr_modules *modules, bool live)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	int64_t now = time_of(message);

	if (history->until == INT64_MAX && !has_dump(event))
		history->until = INT64_MIN;
	/* Once it has begun, a slow machine may need longer for it. */
	if (class->maps == KR_MAPS_DUMP_BEGIN || class->maps == KR_MAPS_DUMPED)
		history->until = patience_from(now);
	if (class->maps == KR_MAPS_DUMP_END || history->until == INT64_MIN ||
	    (live && now > history->until)) {
		if (history->past)
			kr_history_settle(history);
		return;
	}
	if (!history->past && needs_past(history, event, class)) {
		history->past = kr_spaces_new();
		if (history->until == INT64_MAX)
			history->until = patience_from(now);
	}
	if (history->past)
		kr_maps_recall(class->maps, event, history->past, modules);
}

void kr_history_apply(struct kr_history *history, const bt_message *message,
		      enum kr_maps_event what, struct kr_modules *modules)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct kr_losses *losses = &history->losses;

	/* A loss is told when it starts, and lasts. */
	if (losses->count)
		kr_spaces_set_sure(history->spaces, time_of(message) >= losses->until);
	kr_maps_apply(what, event, history->spaces, modules);
	if (what == KR_MAPS_DUMP_BEGIN) {
		history->dumping = true;
		history->dump = kr_losses_mark(&history->losses, time_of(message));
		kr_spaces_doubt(history->spaces);
	} else if (what == KR_MAPS_DUMP_END && history->dumping) {
		history->dumping = false;
		if (kr_maps_are_whole(what, event) &&
		    !kr_losses_since(&history->losses, history->dump))
			kr_spaces_drop_doubted(history->spaces);
	}
}

void kr_history_notice_loss(struct kr_history *history)
{
	history->lost = true;
}

void kr_history_apply_loss(struct kr_history *history, const struct kr_loss *loss)
{
	kr_losses_add(&history->losses, loss);
	kr_spaces_lose(history->spaces);
}

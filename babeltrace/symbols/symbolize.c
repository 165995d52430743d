// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The messages of filter.kunwind.symbolize: the same, with the resolved stack in the
 * common context of each event that has one (resolved_stack.h).
 */
#include <glib.h>
#include <stdio.h>
#include "event.h"
#include "event_bytes.h"
#include "filter.h"
#include "history.h"
#include "maps.h"
#include "message.h"
#include "mirror.h"
#include "module.h"
#include "notes.h"
#include "reader_budgets.h"
#include "resolve.h"
#include "sample.h"
#include "symbolize.h"
#include "traced_space.h"

/**
 * struct iterator - a message iterator
 * @self: itself
 * @component: whose it is
 * @upstream: where messages come from
 * @mirror: what its own refer to
 * @histories: struct kr_history by bt_trace
 * @resolver: of the stack at hand
 * @maps: how many events of kunwind there were
 * @queue: bt_message
 * @next: of the queue, the first that was not handled
 * @seen: of the queue, the first that was not noticed
 * @awaiting: how many histories wait
 * @held: memory of the messages that wait with them
 * @live: @upstream has once had nothing to tell, without having ended
 * @end: how @upstream has ended, or OK
 * @error: of that
 */
struct iterator {
	bt_self_message_iterator *self;
	struct kr_filter *component;
	bt_message_iterator *upstream;
	struct kr_mirror *mirror;
	GHashTable *histories;
	struct kr_resolver resolver;
	uint64_t maps;
	GPtrArray *queue;
	guint next;
	guint seen;
	guint awaiting;
	uint64_t held;
	bool live;
	bt_message_iterator_next_status end;
	const bt_error *error;
};

static struct kr_history *history_of_trace(struct iterator *it, const bt_trace *trace)
{
	struct kr_history *history = g_hash_table_lookup(it->histories, trace);

	if (!history) {
		history = kr_history_new();
		g_hash_table_insert(it->histories, (void *)trace, history);
	}
	return history;
}

static struct kr_history *history_of(struct iterator *it, const bt_event *event)
{
	return history_of_trace(it, bt_stream_borrow_trace_const(
		bt_event_borrow_stream_const(event)));
}

static bool copy_event(const bt_event *from, bt_event *to)
{
	return kr_copy_field(bt_event_borrow_common_context_field_const(from),
			     bt_event_borrow_common_context_field(to)) &&
	       kr_copy_field(bt_event_borrow_specific_context_field_const(from),
			     bt_event_borrow_specific_context_field(to)) &&
	       kr_copy_field(bt_event_borrow_payload_field_const(from),
			     bt_event_borrow_payload_field(to));
}

static bt_message_iterator_next_status pull(struct iterator *it);

static bool is_told(struct kr_spaces *spaces, uint64_t space, uint64_t address)
{
	const struct kr_mapping *mapping = kr_spaces_find(spaces, space, address);

	return mapping && mapping->module;
}

/*
 * What is mapped in a new program is told after the exit of execve(), whose stack is of
 * that program already. Nothing else was mapped there before, so it can be applied now.
 */
static void look_ahead(struct iterator *it, const bt_event *of, uint64_t space,
		       uint64_t address)
{
	struct kr_history *history = history_of(it, of);
	uint64_t bytes = 0;
	guint i = it->next;

	while (bytes < KR_WAITING_BYTES && !is_told(history->spaces, space, address)) {
		const struct kr_event_class *class;
		const bt_message *message;
		const bt_event *event;

		if (i == it->queue->len && (i - it->next >= KR_AHEAD || pull(it)))
			return;
		message = g_ptr_array_index(it->queue, i++);
		if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
			continue;
		event = bt_message_event_borrow_event_const(message);
		bytes += kr_event_bytes(event);
		if (history_of(it, event) != history)
			continue;
		class = kr_mirror_event_class(it->mirror,
					      bt_event_borrow_class_const(event));
		if (class && class->maps == KR_MAPS_MAP && kr_maps_are_of(event, space))
			kr_history_apply(history, message, class->maps,
					 it->component->modules);
	}
}

static bt_message *handle_event(struct iterator *it, const bt_message *in)
{
	const bt_event *from = bt_message_event_borrow_event_const(in);
	const struct kr_event_class *class = kr_mirror_event_class(it->mirror,
		bt_event_borrow_class_const(from));
	struct kr_resolver *resolver = &it->resolver;
	const struct kr_context *context;
	struct kr_sample sample;
	uint64_t space = 0, address;
	bt_message *out;
	bt_event *to;

	if (!class)
		return NULL;
	out = kr_message_create_event(it->mirror, it->self, in, class);
	if (!out)
		return NULL;
	to = bt_message_event_borrow_event(out);
	resolver->spaces = history_of(it, from)->spaces;
	resolver->sample = kr_sample_of_event(from, &sample) ? &sample : NULL;
	if (class->maps) {
		kr_history_apply(history_of(it, from), in, class->maps,
				 it->component->modules);
		it->maps++;
	}
	context = &class->stream_class->context;
	if (context->stack >= 0 && kr_is_exec(from))
		space = kr_resolve_new_space(resolver->spaces, context,
			bt_event_borrow_common_context_field_const(from), &address);
	if (space)
		look_ahead(it, from, space, address);
	if (!copy_event(from, to) ||
	    (context->stack >= 0 &&
	     !kr_resolve(resolver, context,
			 bt_event_borrow_common_context_field_const(from),
			 bt_event_borrow_common_context_field(to)))) {
		bt_message_put_ref(out);
		return NULL;
	}
	return out;
}

static const bt_message *handle(struct iterator *it, const bt_message *in)
{
	struct kr_loss loss;

	if (bt_message_get_type(in) == BT_MESSAGE_TYPE_EVENT)
		return handle_event(it, in);
	if (kr_loss_of_message(in, &loss)) {
		kr_note_many(it->component->notes, loss.packets ? KR_LOST_PACKETS : KR_LOST,
			     loss.count ?: 1);
		if (kr_maps_are_in(loss.class))
			kr_history_apply_loss(history_of_trace(it, loss.trace), &loss);
	}
	return kr_message_copy(it->mirror, it->self, in);
}

static bool may_warn(const struct iterator *it)
{
	return bt_component_get_logging_level(bt_self_component_as_component(
			bt_self_component_filter_as_self_component(
				it->component->self))) <= BT_LOGGING_LEVEL_WARNING;
}

static void note_forgotten(struct iterator *it)
{
	GHashTableIter iter;
	gpointer history;

	g_hash_table_iter_init(&iter, it->histories);
	while (g_hash_table_iter_next(&iter, NULL, &history))
		kr_note_many(it->component->notes, KR_FORGOTTEN,
			     kr_spaces_take_forgotten(
				     ((struct kr_history *)history)->spaces));
}

static void say_notes(struct iterator *it)
{
	note_forgotten(it);
	if (it->resolver.stacks && !it->maps) {
		kr_notes_forget(it->component->notes, KR_NO_SPACE);
		kr_notes_forget(it->component->notes, KR_UNTOLD);
		kr_note_many(it->component->notes, KR_NO_MAPS, it->resolver.stacks);
	}
	if (may_warn(it))
		kr_notes_say(it->component->notes, it->component->sysroot,
			     it->component->parent);
	it->resolver.stacks = 0;
	it->maps = 0;
}

static void settle_all(struct iterator *it)
{
	GHashTableIter iter;
	gpointer history;

	g_hash_table_iter_init(&iter, it->histories);
	while (g_hash_table_iter_next(&iter, NULL, &history))
		if (((struct kr_history *)history)->past)
			kr_history_give_up(history);
	it->awaiting = 0;
}

/* Who looks at a live session does not learn at its end only why there are no names. */
static void say_no_dump(const struct iterator *it)
{
	if (!may_warn(it))
		return;
	fflush(stdout);
	fputs("kunwind: warning: no state dump came, so what was mapped before the viewer is shown as numbers: "
	      "lttng regenerate statedump --session=NAME records another\n", stderr);
}

/* A live trace in which nothing happens says what time it is. */
static void notice_time(struct iterator *it, const bt_message *message)
{
	GHashTableIter iter;
	gpointer history;
	int64_t now;

	if (!it->live || bt_clock_snapshot_get_ns_from_origin(
		bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(
			message), &now))
		return;
	g_hash_table_iter_init(&iter, it->histories);
	while (g_hash_table_iter_next(&iter, NULL, &history)) {
		struct kr_history *one = history;

		if (!one->past || now <= one->until)
			continue;
		kr_history_settle(one);
		say_no_dump(it);
		it->awaiting--;
	}
}

static void notice(struct iterator *it, const bt_message *message)
{
	const struct kr_event_class *class;
	struct kr_history *history;
	const bt_event *event;
	struct kr_loss loss;
	bool waited;

	if (kr_loss_of_message(message, &loss) && kr_maps_are_in(loss.class))
		kr_history_notice_loss(history_of_trace(it, loss.trace));
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY)
		notice_time(it, message);
	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return;
	event = bt_message_event_borrow_event_const(message);
	history = history_of(it, event);
	class = kr_mirror_event_class(it->mirror,
				      bt_event_borrow_class_const(event));
	if (!class)
		return;
	waited = history->past;
	kr_history_notice(history, message, class, it->component->modules, it->live);
	it->awaiting += (history->past != NULL) - waited;
	if (waited && !history->past && class->maps != KR_MAPS_DUMP_END)
		say_no_dump(it);
}

/* What waits is bounded. */
static void hold(struct iterator *it, const bt_message *message)
{
	if (!it->awaiting) {
		it->held = 0;
		return;
	}
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT)
		it->held += kr_event_bytes(bt_message_event_borrow_event_const(message));
	if (it->seen - it->next >= KR_WAITING || it->held >= KR_WAITING_BYTES)
		settle_all(it);
}

static bt_message_iterator_next_status pull(struct iterator *it)
{
	bt_message_iterator_next_status status;
	bt_message_array_const in;
	uint64_t i, n;

	if (it->end)
		return it->end;
	if (it->error)
		bt_current_thread_move_error(it->error);
	status = bt_message_iterator_next(it->upstream, &in, &n);
	/* source.ctf.fs leaves one that it will only tell of next time. */
	it->error = bt_current_thread_take_error();
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		for (i = 0; i < n; i++)
			g_ptr_array_add(it->queue, (gpointer)in[i]);
	else if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		it->live = true;
	else
		it->end = status;
	return status;
}

/* Return: OK when the next message of the queue may be handled. */
static bt_message_iterator_next_status advance(struct iterator *it)
{
	bt_message_iterator_next_status status;

	while (it->awaiting || it->next == it->seen) {
		if (it->next == it->queue->len) {
			g_ptr_array_set_size(it->queue, 0);
			it->next = 0;
			it->seen = 0;
		}
		if (it->seen < it->queue->len) {
			notice(it, g_ptr_array_index(it->queue, it->seen));
			hold(it, g_ptr_array_index(it->queue, it->seen++));
			continue;
		}
		if (bt_self_message_iterator_is_interrupted(it->self))
			return BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN;
		status = pull(it);
		if (it->end && it->next < it->seen)
			settle_all(it);
		else if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
			return status;
	}
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
}

bt_message_iterator_class_next_method_status kr_symbolize_next(
	bt_self_message_iterator *self, bt_message_array_const out,
	uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	bt_message_iterator_next_status status;

	for (*count = 0; *count < capacity; ++*count) {
		const bt_message *in;

		status = advance(it);
		if (status)
			break;
		in = g_ptr_array_index(it->queue, it->next++);
		out[*count] = handle(it, in);
		bt_message_put_ref(in);
		if (out[*count])
			continue;
		while (*count)
			bt_message_put_ref(out[--*count]);
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self,
			"kunwind: a message cannot be copied: out of memory");
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	}
	if (*count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		say_notes(it);
	if (it->error)
		bt_current_thread_move_error(it->error);
	it->error = NULL;
	return (bt_message_iterator_class_next_method_status)status;
}

static void empty_queue(struct iterator *it)
{
	for (; it->next < it->queue->len; it->next++)
		bt_message_put_ref(g_ptr_array_index(it->queue, it->next));
	g_ptr_array_set_size(it->queue, 0);
	it->next = 0;
	it->seen = 0;
	it->awaiting = 0;
	it->end = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	if (it->error)
		bt_error_release(it->error);
	it->error = NULL;
}

static void free_iterator(struct iterator *it)
{
	/* Ctrl-C ends a viewer of what has no end. */
	if (it->live)
		say_notes(it);
	empty_queue(it);
	g_ptr_array_unref(it->queue);
	g_hash_table_destroy(it->histories);
	kr_mirror_free(it->mirror);
	bt_message_iterator_put_ref(it->upstream);
	g_free(it);
}

bt_message_iterator_class_initialize_method_status kr_symbolize_init_iterator(
	bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port)
{
	struct kr_filter *component = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));
	bt_message_iterator_create_from_message_iterator_status status;
	bt_message_iterator *upstream;
	struct iterator *it;

	(void)port;
	status = bt_message_iterator_create_from_message_iterator(self,
		bt_self_component_filter_borrow_input_port_by_index(component->self,
								    0),
		&upstream);
	if (status)
		return (bt_message_iterator_class_initialize_method_status)status;
	it = g_new0(struct iterator, 1);
	it->self = self;
	it->component = component;
	it->upstream = upstream;
	it->mirror = kr_mirror_new(
		bt_self_component_filter_as_self_component(component->self));
	it->queue = g_ptr_array_new();
	it->histories = g_hash_table_new_full(NULL, NULL, NULL,
					      (GDestroyNotify)kr_history_free);
	it->resolver.kernel = component->kernel;
	it->resolver.jit = component->jit;
	it->resolver.notes = it->component->notes;
	bt_self_message_iterator_configuration_set_can_seek_forward(config,
		bt_message_iterator_can_seek_forward(upstream));
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void kr_symbolize_finalize_iterator(bt_self_message_iterator *self)
{
	free_iterator(bt_self_message_iterator_get_data(self));
}

bt_message_iterator_class_can_seek_beginning_method_status
kr_symbolize_can_seek(bt_self_message_iterator *self, bt_bool *can)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	return (bt_message_iterator_class_can_seek_beginning_method_status)
		bt_message_iterator_can_seek_beginning(it->upstream, can);
}

/* What is mapped begins anew, and so do the streams. */
bt_message_iterator_class_seek_beginning_method_status
kr_symbolize_seek(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	empty_queue(it);
	g_hash_table_remove_all(it->histories);
	kr_mirror_rewind(it->mirror);
	it->resolver.stacks = 0;
	it->maps = 0;
	return (bt_message_iterator_class_seek_beginning_method_status)
		bt_message_iterator_seek_beginning(it->upstream);
}

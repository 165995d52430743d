// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The messages of filter.kunwind.symbolize: the same, with the resolved stack in the
 * common context of each event that has one (resolved_stack.h).
 */
#include <glib.h>
#include "event.h"
#include "event_bytes.h"
#include "filter.h"
#include "history.h"
#include "jit.h"
#include "maps.h"
#include "message.h"
#include "mirror.h"
#include "module.h"
#include "notes.h"
#include "queue.h"
#include "reader_budgets.h"
#include "resolve.h"
#include "sample.h"
#include "symbolize.h"
#include "traced_space.h"

/**
 * struct iterator - a message iterator
 * @component: whose it is
 * @mirror: what its own messages refer to
 * @histories: of traces
 * @queue: where messages come from
 * @message: the one at hand, which is an event's
 * @resolver: of its stack
 * @maps: how many events of kunwind there were
 */
struct iterator {
	struct kr_filter *component;
	struct kr_mirror *mirror;
	GHashTable *histories;
	struct kr_queue queue;
	const bt_message *message;
	struct kr_resolver resolver;
	uint64_t maps;
};

static bool copy_event(const bt_event *from, bt_event *to)
{
	return kr_copy_field(bt_event_borrow_common_context_field_const(from),
			     bt_event_borrow_common_context_field(to)) &&
	       kr_copy_field(bt_event_borrow_specific_context_field_const(from),
			     bt_event_borrow_specific_context_field(to)) &&
	       kr_copy_field(bt_event_borrow_payload_field_const(from),
			     bt_event_borrow_payload_field(to));
}

/* A look at the messages that come next: how many, and what they take. */
struct ahead {
	guint n;
	uint64_t bytes;
};

/* Return: the next message of an event; NULL if there is none yet, or enough were looked at. */
static const bt_message *event_ahead(struct iterator *it, struct ahead *ahead)
{
	const bt_message *message;

	while (ahead->bytes < KR_WAITING_BYTES &&
	       (message = kr_queue_ahead(&it->queue, ahead->n++))) {
		if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
			continue;
		ahead->bytes += kr_event_bytes(bt_message_event_borrow_event_const(message));
		return message;
	}
	return NULL;
}

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
	struct kr_history *history = kr_history_of_event(it->histories, of);
	struct ahead ahead = { 0 };

	while (!is_told(history->spaces, space, address)) {
		const bt_message *message = event_ahead(it, &ahead);
		const struct kr_event_class *class;
		const bt_event *event;

		if (!message)
			return;
		event = bt_message_event_borrow_event_const(message);
		if (kr_history_of_event(it->histories, event) != history)
			continue;
		class = kr_mirror_event_class(it->mirror,
					      bt_event_borrow_class_const(event));
		if (class && class->maps == KR_MAPS_MAP && kr_maps_are_of(event, space))
			kr_history_apply(history, message, class->maps,
					 it->component->modules);
	}
}

/* Ask for a stack's addresses of one file. Return: how many addresses were looked at. */
static uint64_t ask_of(struct iterator *it, const bt_message *message, struct kr_module *module)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct kr_event_class *class =
		kr_mirror_event_class(it->mirror, bt_event_borrow_class_const(event));

	if (!class || class->stream_class->context.stack < 0)
		return 0;
	return kr_resolve_of(kr_history_of_event(it->histories, event)->spaces,
			     &class->stream_class->context,
			     bt_event_borrow_common_context_field_const(event), module);
}

/*
 * More files than may be open come by turns: ask for all that the next stacks need of the one
 * that has just been opened again. What is mapped may be another file by then: that costs a
 * question, as answers are kept by file and offset.
 */
static void ask_ahead(void *data, struct kr_module *module)
{
	struct iterator *it = data;
	const bt_message *message = it->message;
	struct ahead ahead = { 0 };
	uint64_t looked = 0;

	while (message && looked < KR_AHEAD_FRAMES &&
	       !bt_self_message_iterator_is_interrupted(it->queue.self)) {
		looked += ask_of(it, message, module);
		message = event_ahead(it, &ahead);
	}
	/* If it was closed once more meanwhile, more questions would be as dear as later. */
	(void)kr_module_was_reopened(module);
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
	out = kr_message_create_event(it->mirror, it->queue.self, in, class);
	if (!out)
		return NULL;
	to = bt_message_event_borrow_event(out);
	it->message = in;
	resolver->spaces = kr_history_of_event(it->histories, from)->spaces;
	resolver->sample = kr_sample_of_event(from, &sample) ? &sample : NULL;
	if (class->maps) {
		kr_history_apply(kr_history_of_event(it->histories, from), in, class->maps,
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
			kr_history_apply_loss(kr_history_of_trace(it->histories, loss.trace), &loss);
	}
	return kr_message_copy(it->mirror, it->queue.self, in);
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
	if (it->component->jit)
		kr_note_many(it->component->notes, KR_JIT_LARGE,
			     kr_jit_take_left_out(it->component->jit));
	if (it->resolver.stacks && !it->maps) {
		kr_notes_forget(it->component->notes, KR_NO_SPACE);
		kr_notes_forget(it->component->notes, KR_UNTOLD);
		kr_note_many(it->component->notes, KR_NO_MAPS, it->resolver.stacks);
	}
	if (kr_filter_may_warn(it->component))
		kr_notes_say(it->component->notes, it->component->sysroot,
			     it->component->parent);
	it->resolver.stacks = 0;
	it->maps = 0;
}

bt_message_iterator_class_next_method_status kr_symbolize_next(
	bt_self_message_iterator *self, bt_message_array_const out,
	uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	bt_message_iterator_next_status status;

	for (*count = 0; *count < capacity; ++*count) {
		const bt_message *in;

		status = kr_queue_advance(&it->queue);
		if (status)
			break;
		in = kr_queue_take(&it->queue);
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
	kr_queue_move_error(&it->queue);
	return (bt_message_iterator_class_next_method_status)status;
}

static void free_iterator(struct iterator *it)
{
	/* Ctrl-C ends a viewer of what has no end. */
	if (it->queue.live)
		say_notes(it);
	kr_queue_fini(&it->queue);
	g_hash_table_destroy(it->histories);
	kr_mirror_free(it->mirror);
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
	it->component = component;
	it->mirror = kr_mirror_new(
		bt_self_component_filter_as_self_component(component->self));
	it->histories = kr_histories_new();
	it->queue = (struct kr_queue) {
		.self = self, .upstream = upstream, .filter = component,
		.mirror = it->mirror, .histories = it->histories,
	};
	kr_queue_init(&it->queue);
	it->resolver.kernel = component->kernel;
	it->resolver.jit = component->jit;
	it->resolver.notes = it->component->notes;
	it->resolver.reopened = ask_ahead;
	it->resolver.data = it;
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
		bt_message_iterator_can_seek_beginning(it->queue.upstream, can);
}

/* What is mapped begins anew, and so do the streams. */
bt_message_iterator_class_seek_beginning_method_status
kr_symbolize_seek(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	kr_queue_empty(&it->queue);
	g_hash_table_remove_all(it->histories);
	kr_mirror_rewind(it->mirror);
	it->resolver.stacks = 0;
	it->maps = 0;
	return (bt_message_iterator_class_seek_beginning_method_status)
		bt_message_iterator_seek_beginning(it->queue.upstream);
}

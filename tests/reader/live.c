// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * filter.live.pause, for tests: what comes from upstream, as a live session has it. First
 * there is nothing yet; behind the last event it is a minute later, and nothing ends.
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdlib.h>

#define MINUTE	UINT64_C(60000000000)

/* @clock, @now: of the last event, or NULL; @said: that it is a minute later */
struct iterator {
	bt_message_iterator *upstream;
	const bt_clock_class *clock;
	uint64_t now;
	bool begun;
	bool said;
};

static bt_component_class_initialize_method_status init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *config, const bt_value *params, void *data)
{
	(void)config;
	(void)params;
	(void)data;
	if (bt_self_component_filter_add_input_port(self, "in", NULL, NULL) ||
	    bt_self_component_filter_add_output_port(self, "out", NULL, NULL))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_message_iterator_class_initialize_method_status init_iterator(
	bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port)
{
	bt_self_component_filter *filter = (bt_self_component_filter *)
		bt_self_message_iterator_borrow_component(self);
	struct iterator *it = calloc(1, sizeof(*it));

	(void)config;
	(void)port;
	if (!it || bt_message_iterator_create_from_message_iterator(self,
			bt_self_component_filter_borrow_input_port_by_index(filter, 0),
			&it->upstream)) {
		free(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize_iterator(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	bt_message_iterator_put_ref(it->upstream);
	bt_clock_class_put_ref(it->clock);
	free(it);
}

static void look(struct iterator *it, const bt_message *message)
{
	const bt_clock_snapshot *now;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return;
	now = bt_message_event_borrow_default_clock_snapshot_const(message);
	bt_clock_class_put_ref(it->clock);
	it->clock = bt_clock_snapshot_borrow_clock_class_const(now);
	bt_clock_class_get_ref(it->clock);
	it->now = bt_clock_snapshot_get_value(now);
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *self,
	bt_message_array_const out, uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	bt_message_iterator_next_status status;
	bt_message_array_const in;
	uint64_t n;

	(void)capacity;
	if (!it->begun) {
		it->begun = true;
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	}
	if (it->said)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	status = bt_message_iterator_next(it->upstream, &in, &n);
	*count = 0;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		/* The arrays are of the same size. What ends is left out: nothing does. */
		for (uint64_t i = 0; i < n; i++) {
			look(it, in[i]);
			if (bt_message_get_type(in[i]) == BT_MESSAGE_TYPE_STREAM_END ||
			    bt_message_get_type(in[i]) == BT_MESSAGE_TYPE_PACKET_END)
				bt_message_put_ref(in[i]);
			else
				out[(*count)++] = in[i];
		}
		return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
				BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END || !it->clock)
		return (bt_message_iterator_class_next_method_status)status;
	it->said = true;
	out[0] = bt_message_message_iterator_inactivity_create(self, it->clock,
							       it->now + MINUTE);
	*count = 1;
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

BT_PLUGIN_MODULE();
BT_PLUGIN(live);
BT_PLUGIN_FILTER_COMPONENT_CLASS(pause, next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(pause, init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(pause, init_iterator);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(pause, finalize_iterator);

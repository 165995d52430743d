/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The methods of the message iterators of filter.kunwind.symbolize. */
#ifndef KR_SYMBOLIZE_H
#define KR_SYMBOLIZE_H

#include <babeltrace2/babeltrace.h>

bt_message_iterator_class_initialize_method_status kr_symbolize_init_iterator(
	bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port);
void kr_symbolize_finalize_iterator(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status kr_symbolize_next(
	bt_self_message_iterator *self, bt_message_array_const out,
	uint64_t capacity, uint64_t *count);
bt_message_iterator_class_can_seek_beginning_method_status
kr_symbolize_can_seek(bt_self_message_iterator *self, bt_bool *can);
bt_message_iterator_class_seek_beginning_method_status
kr_symbolize_seek(bt_self_message_iterator *self);

#endif /* KR_SYMBOLIZE_H */

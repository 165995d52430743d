/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The methods of sink.kunwind.text. */
#ifndef KR_TEXT_H
#define KR_TEXT_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status kr_text_init(
	bt_self_component_sink *self_sink,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data);
void kr_text_finalize(bt_self_component_sink *self);
bt_component_class_sink_graph_is_configured_method_status kr_text_configured(
	bt_self_component_sink *self);
bt_component_class_sink_consume_method_status kr_text_consume(
	bt_self_component_sink *self);

#endif /* KR_TEXT_H */

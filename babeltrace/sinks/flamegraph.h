/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* sink.kunwind.flamegraph; its other methods are those of all sinks. */
#ifndef KR_FLAMEGRAPH_H
#define KR_FLAMEGRAPH_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status kr_flamegraph_init(
	bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data);

#endif /* KR_FLAMEGRAPH_H */

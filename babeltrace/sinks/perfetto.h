/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* sink.kunwind.perfetto; its other methods are those of all sinks. */
#ifndef KR_PERFETTO_H
#define KR_PERFETTO_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status kr_perfetto_init(
	bt_self_component_sink *self,
	bt_self_component_sink_configuration *config, const bt_value *params,
	void *data);

#endif /* KR_PERFETTO_H */

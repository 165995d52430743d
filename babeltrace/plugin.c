// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The plugin of babeltrace2, and what is in it. */
#include <string.h>
#include "flamegraph.h"
#include "perfetto.h"
#include "plugin.h"
#include "sink.h"
#include "filter.h"
#include "symbolize.h"
#include "text.h"

BT_PLUGIN_MODULE();
BT_PLUGIN(kunwind);
BT_PLUGIN_DESCRIPTION("User call stacks of kunwind, with names.");
BT_PLUGIN_LICENSE("GPL-2.0-only OR MIT");

BT_PLUGIN_FILTER_COMPONENT_CLASS(symbolize, kr_symbolize_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(symbolize,
	"Add names to user call stacks: functions, lines, inlined functions.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(symbolize,
	"See the manual page babeltrace2-plugin-kunwind(7).");
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(symbolize, kr_symbolize_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(symbolize, kr_symbolize_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
	symbolize, kr_symbolize_init_iterator);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(
	symbolize, kr_symbolize_finalize_iterator);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
	symbolize, kr_symbolize_seek, kr_symbolize_can_seek);

BT_PLUGIN_SINK_COMPONENT_CLASS(text, kr_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(text,
	"Print system calls and other events, each with its call stack below it.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(text,
	"See the manual page babeltrace2-plugin-kunwind(7).");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(text, kr_text_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(text, kr_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(text,
	kr_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(flamegraph, kr_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(flamegraph,
	"Write folded call stacks, or a page of HTML that shows them.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(flamegraph,
	"See the manual page babeltrace2-plugin-kunwind(7).");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(flamegraph, kr_flamegraph_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(flamegraph, kr_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(flamegraph,
	kr_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(perfetto, kr_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(perfetto,
	"Write a picture over time for ui.perfetto.dev.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(perfetto,
	"See the manual page babeltrace2-plugin-kunwind(7).");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(perfetto, kr_perfetto_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(perfetto, kr_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(perfetto,
	kr_sink_configured);

struct check {
	const char *const *names;
	bt_self_component *self;
	bool ok;
};

static bt_value_map_foreach_entry_const_func_status check_param(
	const char *name, const bt_value *value, void *data)
{
	struct check *check = data;
	const char *const *known;

	for (known = check->names; *known && strcmp(*known, name); known++)
		;
	check->ok = *known && bt_value_is_string(value);
	if (check->ok)
		return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(check->self,
		"kunwind: parameter %s: %s", name,
		*known ? "it must be a string" : "there is no such parameter");
	return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
}

bool kr_params_are_known(const bt_value *params, const char *const *names,
			 bt_self_component *self)
{
	struct check check = { .names = names, .self = self, .ok = true };

	(void)bt_value_map_foreach_entry_const(params, check_param, &check);
	return check.ok;
}

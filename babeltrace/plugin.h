/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the component classes of the plugin have in common. */
#ifndef KR_PLUGIN_H
#define KR_PLUGIN_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/**
 * kr_params_are_known() - check the parameters of a component
 * @params: what it was given
 * @names: those that exist, all of them strings; NULL ends them
 * @self: whose they are, for the error
 */
bool kr_params_are_known(const bt_value *params, const char *const *names,
			 bt_self_component *self);

#endif /* KR_PLUGIN_H */

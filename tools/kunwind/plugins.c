// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Plugins of babeltrace2, and kunwind's own: see plugins.h. */
#include <babeltrace2/babeltrace.h>
#include <stddef.h>
#include "command.h"
#include "plugins.h"

#define PLUGIN_FILE	BT2_PLUGINDIR "/babeltrace-plugin-kunwind.so"

/* Ours: where babeltrace2 looks, then where this package puts it. */
static const bt_plugin *find_kunwind(void)
{
	const bt_plugin_set *set = NULL;
	const bt_plugin *plugin = NULL;

	if (!bt_plugin_find("kunwind", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
			    &plugin))
		return plugin;
	if (!bt_plugin_find_all_from_file(PLUGIN_FILE, BT_FALSE, &set)) {
		plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
		bt_plugin_get_ref(plugin);
		bt_plugin_set_put_ref(set);
		return plugin;
	}
	bt_current_thread_clear_error();
	kc_error("install it, or say where it is: BABELTRACE_PLUGIN_PATH",
		 "babeltrace2's plugin kunwind is not found: %s", PLUGIN_FILE);
	return NULL;
}

/* One that comes with babeltrace2. */
static const bt_plugin *find_named(const char *name)
{
	const bt_plugin *plugin = NULL;

	if (!bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
			    &plugin))
		return plugin;
	bt_current_thread_clear_error();
	kc_error("install babeltrace2", "babeltrace2's plugin %s is not found", name);
	return NULL;
}

bool kc_plugins_load(struct kc_plugins *plugins, enum kc_form form)
{
	plugins->own = form == KC_RAW ? find_named("text") : find_kunwind();
	plugins->ctf = plugins->own ? find_named("ctf") : NULL;
	plugins->utils = plugins->ctf ? find_named("utils") : NULL;
	return plugins->utils;
}

void kc_plugins_put(struct kc_plugins *plugins)
{
	bt_plugin_put_ref(plugins->own);
	bt_plugin_put_ref(plugins->ctf);
	bt_plugin_put_ref(plugins->utils);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The sources of a graph: source.ctf.fs, one for each trace. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include "progress.h"
#include "sources.h"

/* Return: what a trace's folder belongs to, which the caller frees. */
static char *group_of(const bt_component_class_source *class, const char *folder)
{
	const bt_value *result = NULL, *group = NULL;
	bt_value *params = bt_value_map_create();
	bt_query_executor *executor;
	char *name = NULL;

	(void)bt_value_map_insert_string_entry(params, "input", folder);
	(void)bt_value_map_insert_string_entry(params, "type", "directory");
	executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class),
		"babeltrace.support-info", params);
	if (executor && !bt_query_executor_query(executor, &result) &&
	    bt_value_is_map(result))
		group = bt_value_map_borrow_entry_value_const(result, "group");
	if (group && bt_value_is_string(group))
		name = g_strdup(bt_value_string_get(group));
	bt_current_thread_clear_error();
	bt_value_put_ref(result);
	bt_value_put_ref(params);
	bt_query_executor_put_ref(executor);
	return name ?: g_strdup(folder);
}

/* Connect all outputs of a source to the muxer, which has one more input each time. */
static bool connect_source(bt_graph *graph, const bt_component_source *source,
			   const bt_component_filter *muxer)
{
	uint64_t i, n = bt_component_source_get_output_port_count(source);

	for (i = 0; i < n; i++)
		if (bt_graph_connect_ports(graph,
			bt_component_source_borrow_output_port_by_index_const(source, i),
			bt_component_filter_borrow_input_port_by_index_const(muxer,
				bt_component_filter_get_input_port_count(muxer) - 1),
			NULL))
			return false;
	return true;
}

/* One source for the folders of one trace: a session that rotated has several. */
static bool add_source(bt_graph *graph, const bt_component_class_source *class,
		       const bt_component_filter *muxer, const char *group,
		       GPtrArray *folders, struct kc_progress *progress)
{
	const bt_component_source *source;
	bt_value *params = bt_value_map_create(), *inputs;
	bool done;
	guint i;

	(void)bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	for (i = 0; i < folders->len; i++)
		(void)bt_value_array_append_string_element(inputs,
			g_ptr_array_index(folders, i));
	/* Without it, clocks of several machines, or boots, are an error. */
	(void)bt_value_map_insert_bool_entry(params,
		"force-clock-class-origin-unix-epoch", BT_TRUE);
	if (!progress->silent)
		kc_progress_add(progress, class, params);
	done = !bt_graph_add_source_component(graph, class, group, params,
					      BT_LOGGING_LEVEL_NONE, &source) &&
	       connect_source(graph, source, muxer);
	bt_value_put_ref(params);
	return done;
}

bool kc_sources_add(bt_graph *graph, const bt_plugin *ctf,
		    const bt_component_filter *muxer, GPtrArray *folders,
		    struct kc_progress *progress)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs");
	GHashTable *groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
		(GDestroyNotify)g_ptr_array_unref);
	GHashTableIter iter;
	gpointer group, members;
	bool done = true;
	guint i;

	for (i = 0; i < folders->len; i++) {
		char *name = group_of(class, g_ptr_array_index(folders, i));

		members = g_hash_table_lookup(groups, name);
		if (!members) {
			members = g_ptr_array_new();
			g_hash_table_insert(groups, g_strdup(name), members);
		}
		g_ptr_array_add(members, g_ptr_array_index(folders, i));
		g_free(name);
	}
	g_hash_table_iter_init(&iter, groups);
	while (done && g_hash_table_iter_next(&iter, &group, &members))
		done = add_source(graph, class, muxer, group, members, progress);
	g_hash_table_destroy(groups);
	return done;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* filter.kunwind.symbolize: its parameters, and what its messages are made with. */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include "filter.h"
#include "jit.h"
#include "kernel.h"
#include "module.h"
#include "notes.h"
#include "plugin.h"

static void free_filter(struct kr_filter *filter)
{
	if (filter->kernel)
		kr_kernel_free(filter->kernel);
	if (filter->jit)
		kr_jit_free(filter->jit);
	if (filter->modules)
		kr_modules_free(filter->modules);
	kr_notes_free(filter->notes);
	g_free(filter->sysroot);
	g_free(filter);
}

static bool read_params(struct kr_filter *filter, const bt_value *params,
			bt_self_component *self)
{
	static const char *const names[] = { "sysroot", "kallsyms", "kallsyms-found",
					     "jit", NULL };
	const bt_value *kallsyms, *found, *sysroot, *jit;
	const char *path;

	if (!kr_params_are_known(params, names, self))
		return false;
	sysroot = bt_value_map_borrow_entry_value_const(params, "sysroot");
	kallsyms = bt_value_map_borrow_entry_value_const(params, "kallsyms");
	found = bt_value_map_borrow_entry_value_const(params, "kallsyms-found");
	jit = bt_value_map_borrow_entry_value_const(params, "jit");
	if (jit)
		filter->jit = kr_jit_new(bt_value_string_get(jit));
	if (sysroot) {
		path = bt_value_string_get(sysroot);
		if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
				"kunwind: sysroot: %s is no directory", path);
			return false;
		}
		filter->sysroot = g_canonicalize_filename(path, NULL);
	}
	/* The command found it next to the trace: the user did not ask for it. */
	if (found) {
		path = bt_value_string_get(found);
		filter->kernel = kr_kernel_read(path);
		if (!filter->kernel)
			kr_note(filter->notes, KR_NO_KALLSYMS, path);
	}
	if (kallsyms) {
		path = bt_value_string_get(kallsyms);
		filter->kernel = kr_kernel_read(path);
		if (!filter->kernel) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
				"kunwind: kallsyms: %s: %s", path,
				errno == ENODATA ?
				"it has no addresses: have root copy /proc/kallsyms" :
				errno == EINVAL ? "it is no copy: no regular file" :
				strerror(errno));
			return false;
		}
	}
	return true;
}

bt_component_class_initialize_method_status kr_symbolize_init(
	bt_self_component_filter *self_filter,
	bt_self_component_filter_configuration *config, const bt_value *params,
	void *data)
{
	bt_self_component *self =
		bt_self_component_filter_as_self_component(self_filter);
	struct kr_filter *filter;
	int status;

	(void)config;
	status = bt_self_component_filter_add_input_port(self_filter, "in", NULL,
							 NULL);
	if (!status)
		status = bt_self_component_filter_add_output_port(self_filter, "out",
								  NULL, NULL);
	if (status)
		return status;
	filter = g_new0(struct kr_filter, 1);
	filter->self = self_filter;
	filter->notes = kr_notes_new();
	/* The command says who its parent is; babeltrace2 says nothing. */
	filter->parent = data ? *(const int *)data : -1;
	if (!read_params(filter, params, self)) {
		free_filter(filter);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	filter->modules = kr_modules_new(filter->sysroot, filter->sysroot, filter->parent,
					    filter->notes);
	/* Before a trace is read: while this process is small, and mostly has no other threads. */
	if (!kr_modules_start(filter->modules)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
			"kunwind: no process can be started: %s", strerror(errno));
		free_filter(filter);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(self, filter);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void kr_symbolize_finalize(bt_self_component_filter *self)
{
	free_filter(bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self)));
}

bool kr_filter_may_warn(const struct kr_filter *filter)
{
	return bt_component_get_logging_level(bt_self_component_as_component(
			bt_self_component_filter_as_self_component(filter->self))) <=
	       BT_LOGGING_LEVEL_WARNING;
}

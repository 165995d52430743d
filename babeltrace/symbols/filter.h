/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The component filter.kunwind.symbolize. It outlives its message iterators (symbolize.h). */
#ifndef KR_FILTER_H
#define KR_FILTER_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/**
 * struct kr_filter - filter.kunwind.symbolize
 * @self: itself
 * @sysroot: where files are, or NULL
 * @parent: socket of the process that opens them (parent.h); -1: this process does
 * @kernel: symbols, or NULL
 * @jit: names of compiled code, or NULL
 * @modules: the files of all traces
 * @notes: what is missing
 */
struct kr_filter {
	bt_self_component_filter *self;
	char *sysroot;
	int parent;
	struct kr_kernel *kernel;
	struct kr_jit *jit;
	struct kr_modules *modules;
	struct kr_notes *notes;
};

bt_component_class_initialize_method_status kr_symbolize_init(
	bt_self_component_filter *self_filter,
	bt_self_component_filter_configuration *config, const bt_value *params,
	void *data);
void kr_symbolize_finalize(bt_self_component_filter *self);

/* Return: whether the user wants warnings. */
bool kr_filter_may_warn(const struct kr_filter *filter);

#endif /* KR_FILTER_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which traces below a folder are read together, as those of one machine. */
#ifndef KC_LANES_H
#define KC_LANES_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>

/**
 * struct kc_lane - traces of one machine
 * @kallsyms: the names of its kernel, or NULL
 * @jit: the folder with names of compiled code, or NULL
 * @folders: the traces as they were found
 * @readable: what can be read of them: each itself, a copy, or nothing
 * @muxer: where their sources lead
 */
struct kc_lane {
	char *kallsyms;
	char *jit;
	GPtrArray *folders;
	GPtrArray *readable;
	const bt_component_filter *muxer;
};

/**
 * kc_lanes_find() - the traces below a folder
 * @top: the folder
 * @kallsyms: names the kernel's addresses, instead of what is next to a trace; or NULL
 *
 * Return: struct kc_lane of each machine, sorted by their first trace; NULL if there is no
 * trace, and that was said.
 */
GPtrArray *kc_lanes_find(const char *top, const char *kallsyms);

#endif /* KC_LANES_H */

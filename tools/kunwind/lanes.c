// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Traces of one machine have the same names of its kernel and of its compiled code. */
#include <sys/stat.h>

#include "folders.h"
#include "jit_names.h"
#include "lanes.h"
#include "secret_hash.h"

static void free_lane(gpointer data)
{
	struct kc_lane *lane = data;

	g_free(lane->kallsyms);
	g_free(lane->jit);
	g_ptr_array_unref(lane->folders);
	g_ptr_array_unref(lane->readable);
	g_free(lane);
}

static guint hash_text(const char *text)
{
	return text ? kr_hash_string(text) : 0;
}

static guint hash_lane(gconstpointer key)
{
	const struct kc_lane *lane = key;

	return kr_hash_two(hash_text(lane->kallsyms), hash_text(lane->jit));
}

static gboolean same_lane(gconstpointer a, gconstpointer b)
{
	const struct kc_lane *first = a, *second = b;

	return !g_strcmp0(first->kallsyms, second->kallsyms) &&
	       !g_strcmp0(first->jit, second->jit);
}

/* The lane of a trace, with no trace in it yet. */
static struct kc_lane *lane_for(const char *top, const char *folder, const char *kallsyms)
{
	struct kc_lane *lane = g_new0(struct kc_lane, 1);

	/* The user may name a link. The reader follows none. */
	lane->kallsyms = kallsyms ? kc_real_path(kallsyms) :
				    kc_find_beside(top, folder, "kallsyms", S_IFREG);
	lane->jit = kc_find_beside(top, folder, KC_JIT_NAMES, S_IFDIR);
	lane->folders = g_ptr_array_new_with_free_func(g_free);
	lane->readable = g_ptr_array_new_with_free_func(g_free);
	return lane;
}

GPtrArray *kc_lanes_find(const char *top, const char *kallsyms)
{
	GPtrArray *folders = kc_find_traces(top), *lanes;
	GHashTable *known;
	guint i;

	if (!folders)
		return NULL;
	lanes = g_ptr_array_new_with_free_func(free_lane);
	known = g_hash_table_new(hash_lane, same_lane);
	for (i = 0; i < folders->len; i++) {
		const char *folder = g_ptr_array_index(folders, i);
		struct kc_lane *lane = lane_for(top, folder, kallsyms);
		struct kc_lane *before = g_hash_table_lookup(known, lane);

		if (before) {
			free_lane(lane);
			lane = before;
		} else {
			g_ptr_array_add(lanes, lane);
			g_hash_table_add(known, lane);
		}
		g_ptr_array_add(lane->folders, g_strdup(folder));
	}
	g_hash_table_destroy(known);
	g_ptr_array_unref(folders);
	return lanes;
}

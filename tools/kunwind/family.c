// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The processes that descend from one, as /proc tells their parents. */
#include <stdlib.h>
#include "family.h"
#include "proc.h"

/* Return: 0 if the process has gone. */
static int parent_of(int pid)
{
	struct kc_proc_stat stat;

	return kc_proc_stat(pid, &stat) ? stat.parent : 0;
}

static void free_children(gpointer children)
{
	g_array_unref(children);
}

/* Return: children by their parents, of all processes. */
static GHashTable *all_children(void)
{
	GHashTable *all = g_hash_table_new_full(NULL, NULL, NULL, free_children);
	GDir *dir = g_dir_open("/proc", 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		int pid = atoi(name);
		gpointer parent = pid ? GINT_TO_POINTER(parent_of(pid)) : NULL;
		GArray *children = g_hash_table_lookup(all, parent);

		if (!parent)
			continue;
		if (!children) {
			children = g_array_new(FALSE, FALSE, sizeof(int));
			g_hash_table_insert(all, parent, children);
		}
		g_array_append_val(children, pid);
	}
	if (dir)
		g_dir_close(dir);
	return all;
}

GArray *kc_family(int pid)
{
	GArray *family = g_array_new(FALSE, FALSE, sizeof(int));
	GHashTable *all = all_children();
	guint i;

	g_array_append_val(family, pid);
	for (i = 0; i < family->len; i++) {
		gpointer one = GINT_TO_POINTER(g_array_index(family, int, i));
		const GArray *children = g_hash_table_lookup(all, one);

		if (children)
			g_array_append_vals(family, children->data, children->len);
		/* Numbers that are used again meanwhile could make a circle. */
		g_hash_table_remove(all, one);
	}
	g_hash_table_destroy(all);
	return family;
}

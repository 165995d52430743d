// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The processes that descend from one, as /proc tells their parents. */
#include <stdbool.h>
#include <stdlib.h>
#include "family.h"
#include "proc.h"

/* Return: 0 if the process has gone. */
static int parent_of(int pid)
{
	struct kc_proc_stat stat;

	return kc_proc_stat(pid, &stat) ? stat.parent : 0;
}

/* Return: parents by their children, of all processes. */
static GHashTable *all_parents(void)
{
	GHashTable *parents = g_hash_table_new(NULL, NULL);
	GDir *dir = g_dir_open("/proc", 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_ascii_isdigit(name[0]))
			g_hash_table_insert(parents, GINT_TO_POINTER(atoi(name)),
					    GINT_TO_POINTER(parent_of(atoi(name))));
	if (dir)
		g_dir_close(dir);
	return parents;
}

static bool descends(GHashTable *parents, gpointer process, int from)
{
	guint i, n = g_hash_table_size(parents);

	/* Numbers that are used again meanwhile could make a circle. */
	for (i = 0; i < n && process && GPOINTER_TO_INT(process) != from; i++)
		process = g_hash_table_lookup(parents, process);
	return process && GPOINTER_TO_INT(process) == from;
}

GArray *kc_family(int pid)
{
	GArray *family = g_array_new(FALSE, FALSE, sizeof(int));
	GHashTable *parents = all_parents();
	GHashTableIter iter;
	gpointer process;

	g_array_append_val(family, pid);
	g_hash_table_iter_init(&iter, parents);
	while (g_hash_table_iter_next(&iter, &process, NULL)) {
		int one = GPOINTER_TO_INT(process);

		if (one != pid && descends(parents, process, pid))
			g_array_append_val(family, one);
	}
	g_hash_table_destroy(parents);
	return family;
}

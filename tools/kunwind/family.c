// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The processes that descend from one, as /proc tells their parents. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "family.h"

/* Return: the parent of a process; 0 if it has gone. */
static int parent_of(const char *pid)
{
	char *path = g_strdup_printf("/proc/%s/stat", pid), *text = NULL, *name_end;
	int parent = 0;

	if (g_file_get_contents(path, &text, NULL, NULL)) {
		/* The name can have any characters. */
		name_end = strrchr(text, ')');
		if (!name_end || sscanf(name_end, ") %*c %d", &parent) != 1)
			parent = 0;
	}
	g_free(text);
	g_free(path);
	return parent;
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
					    GINT_TO_POINTER(parent_of(name)));
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

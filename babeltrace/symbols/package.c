// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * dpkg lists the files of each package in a file of /var/lib/dpkg/info. Debian has the
 * symbols of PACKAGE in PACKAGE-dbgsym; those of glibc are in libc6-dbg.
 */
#include <string.h>
#include "package.h"

#define LISTS	"/var/lib/dpkg/info"

/* A package of before /lib was a link lists its files there. */
static gboolean is_listed(GHashTable *paths, const char *line)
{
	char *merged;
	gboolean listed = g_hash_table_contains(paths, line);

	if (listed || !g_str_has_prefix(line, "/lib"))
		return listed;
	merged = g_strconcat("/usr", line, NULL);
	listed = g_hash_table_contains(paths, merged);
	g_free(merged);
	return listed;
}

static gboolean has_one(char *text, GHashTable *paths)
{
	char *line, *next;

	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (is_listed(paths, line))
			return TRUE;
	}
	return FALSE;
}

static gint compare(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *kr_packages_of_symbols(const char *sysroot, GHashTable *paths)
{
	char *folder = g_strconcat(sysroot ?: "", LISTS, NULL), *path, *text;
	GPtrArray *packages = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;
	gsize length;

	while (dir && (name = g_dir_read_name(dir))) {
		if (!g_str_has_suffix(name, ".list"))
			continue;
		path = g_build_filename(folder, name, NULL);
		if (g_file_get_contents(path, &text, NULL, NULL)) {
			/* "libc6:amd64.list" */
			length = strcspn(name, ":");
			if (!name[length])
				length = strlen(name) - strlen(".list");
			if (has_one(text, paths))
				g_ptr_array_add(packages, g_strdup_printf("%.*s%s",
					(int)length, name,
					!strncmp(name, "libc6", length) ? "-dbg" :
									  "-dbgsym"));
			g_free(text);
		}
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	g_free(folder);
	g_ptr_array_sort(packages, compare);
	return packages;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * dpkg-query knows the package of a file. Debian has the symbols of PACKAGE in
 * PACKAGE-dbgsym; those of glibc are in libc6-dbg.
 */
#include <string.h>
#include "package.h"

/* What a file's name must not have: dpkg-query takes it for a pattern. */
#define PATTERN	"*?[]\\"

static void search_for(GPtrArray *command, const char *path)
{
	if (*path != '/' || strpbrk(path, PATTERN))
		return;
	g_ptr_array_add(command, g_strdup(path));
	/* A package of before /lib was a link lists its files there. */
	if (g_str_has_prefix(path, "/usr/"))
		g_ptr_array_add(command, g_strdup(path + strlen("/usr")));
}

/* What dpkg-query --search says of @paths: lines, or NULL. */
static char *ask(GHashTable *paths)
{
	GPtrArray *command = g_ptr_array_new_with_free_func(g_free);
	char **environment = g_environ_setenv(g_get_environ(), "LC_ALL", "C", TRUE);
	char *said = NULL;
	GHashTableIter iter;
	gpointer path;

	g_ptr_array_add(command, g_strdup("dpkg-query"));
	g_ptr_array_add(command, g_strdup("--search"));
	g_hash_table_iter_init(&iter, paths);
	while (g_hash_table_iter_next(&iter, &path, NULL))
		search_for(command, path);
	g_ptr_array_add(command, NULL);
	g_spawn_sync(NULL, (char **)command->pdata, environment,
		     G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
		     &said, NULL, NULL, NULL);
	g_strfreev(environment);
	g_ptr_array_unref(command);
	return said;
}

/* A line is "libc6:amd64, libc6:i386: /usr/lib/...", or tells of a diversion. */
static void add_packages(GPtrArray *symbols, const char *line)
{
	const char *end = strstr(line, ": /");
	char **names, **name;
	char *packages, *symbol;

	if (!end || g_str_has_prefix(line, "diversion by ") ||
	    g_str_has_prefix(line, "local diversion "))
		return;
	packages = g_strndup(line, end - line);
	names = g_strsplit(packages, ", ", -1);
	for (name = names; *name; name++) {
		(*name)[strcspn(*name, ":")] = '\0';
		symbol = g_strconcat(*name, strcmp(*name, "libc6") ? "-dbgsym" : "-dbg", NULL);
		if (g_ptr_array_find_with_equal_func(symbols, symbol, g_str_equal, NULL))
			g_free(symbol);
		else
			g_ptr_array_add(symbols, symbol);
	}
	g_strfreev(names);
	g_free(packages);
}

static gint compare(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *kr_packages_of_symbols(const char *sysroot, GHashTable *paths)
{
	GPtrArray *packages = g_ptr_array_new_with_free_func(g_free);
	/* The database below a sysroot is what its owner made of it: dpkg-query would open a FIFO. */
	char *said = sysroot ? NULL : ask(paths);
	char **lines = g_strsplit(said ?: "", "\n", -1), **line;

	for (line = lines; *line; line++)
		add_packages(packages, *line);
	g_ptr_array_sort(packages, compare);
	g_strfreev(lines);
	g_free(said);
	return packages;
}

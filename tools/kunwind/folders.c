// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A trace is a folder with a file metadata: finding them below a folder. */
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "files.h"
#include "folders.h"
#include "reader_budgets.h"

static void visit(FTS *tree, FTSENT *entry, GPtrArray *found)
{
	const char *path = entry->fts_path;

	if (entry->fts_info == FTS_F && !strcmp(entry->fts_name, "metadata")) {
		/* babeltrace2 ends itself over it, by an assertion. */
		if (!entry->fts_statp->st_size)
			kc_warn(path, "it is empty: its trace is not shown");
		else if ((uint64_t)entry->fts_statp->st_size > KR_METADATA_BYTES)
			kc_warn(path, "it is larger than any metadata: its trace is not shown");
		else
			g_ptr_array_add(found, g_path_get_dirname(path));
	} else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS) {
		kc_warn(path, "it cannot be read: if it has traces, they are not shown");
	} else if (entry->fts_info == FTS_D && entry->fts_level == KR_FOLDER_LEVELS) {
		kc_warn(path, "it is too deep: if it has traces, they are not shown");
		fts_set(tree, entry, FTS_SKIP);
	}
}

static GPtrArray *traces_below(char *folder)
{
	char *const folders[] = { folder, NULL };
	GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
	/* Links lead anywhere. */
	FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)))
		visit(tree, entry, found);
	if (tree)
		fts_close(tree);
	return found;
}

static gint compare_paths(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *kc_real_path(const char *path)
{
	char *real = realpath(path, NULL), *copy = g_strdup(real ?: path);

	free(real);
	return copy;
}

GPtrArray *kc_find_traces(const char *folder)
{
	GPtrArray *found;
	int err = 0;
	char *real;

	if (access(folder, F_OK))
		err = errno;
	else if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
		err = ENOTDIR;
	else if (access(folder, R_OK | X_OK))
		err = errno;
	if (err) {
		kc_error(NULL, "%s: %s", folder, strerror(err));
		return NULL;
	}
	/* The folder itself may be a link. */
	real = kc_real_path(folder);
	found = traces_below(real);
	g_free(real);
	if (!found->len) {
		kc_error("a trace is a folder with a file 'metadata'",
			 "%s: there is no trace in it", folder);
		g_ptr_array_unref(found);
		return NULL;
	}
	g_ptr_array_sort(found, compare_paths);
	return found;
}

/* Of the traces' owner: a link would lead the reader to a file of its user. */
static bool is_usable(const char *path, mode_t type)
{
	int fd = kr_file_find_nofollow(path);
	struct stat st = { 0 };

	if (fd < 0)
		return false;
	(void)fstat(fd, &st);
	close(fd);
	if ((st.st_mode & S_IFMT) == type)
		return !access(path, R_OK);
	/* Once, as many traces can be next to it. */
	if (!g_quark_try_string(path))
		kc_warn(path, S_ISLNK(st.st_mode) ? "it is a link: it is not used" :
			      type == S_IFDIR ? "it is no folder: it is not used" :
			      "it is no regular file: it is not used");
	(void)g_quark_from_string(path);
	return false;
}

char *kc_find_beside(const char *top, const char *trace, const char *name, mode_t type)
{
	char *real = realpath(top, NULL), *folder = g_strdup(trace), *path, *parent;
	bool last, usable;

	for (;;) {
		path = g_build_filename(folder, name, NULL);
		last = !real || !strcmp(folder, real) || !g_str_has_prefix(folder, real);
		usable = is_usable(path, type);
		if (last || usable)
			break;
		g_free(path);
		parent = g_path_get_dirname(folder);
		g_free(folder);
		folder = parent;
	}
	if (!usable)
		g_clear_pointer(&path, g_free);
	g_free(folder);
	free(real);
	return path;
}

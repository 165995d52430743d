// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* One reader after the other reads traces, until one lives to their end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "lanes.h"
#include "reader.h"
#include "reader_budgets.h"
#include "reading.h"
#include "salvage.h"
#include "secret_hash.h"
#include "view.h"

/**
 * struct readers - how far the reading is
 * @what: what is read
 * @salvage: what is left out
 * @copies: of damaged traces, to be removed
 * @count: how many died, or only tried
 * @begun: shared with the reader: it may have printed something
 */
struct readers {
	const struct kc_reading *what;
	struct kc_salvage salvage;
	GPtrArray *copies;
	unsigned int count;
	volatile bool *begun;
};

/* A reader, and what it runs. */
struct attempt {
	struct kc_graph graph;
	int nowhere;
};

/* Replace damaged traces by what can be read of them. */
static void salvage_lane(struct readers *readers, struct kc_lane *lane)
{
	guint i;

	g_ptr_array_set_size(lane->readable, 0);
	for (i = 0; i < lane->folders->len && !*readers->what->stop; i++) {
		const char *folder = g_ptr_array_index(lane->folders, i);
		char *metadata = g_build_filename(folder, "metadata", NULL);
		bool hidden = g_hash_table_contains(readers->salvage.hidden, metadata);
		char *instead = hidden ? NULL : kc_salvage(folder, &readers->salvage);

		if (instead)
			g_ptr_array_add(readers->copies, instead);
		if (!hidden)
			g_ptr_array_add(lane->readable, g_strdup(instead ?: folder));
		g_free(metadata);
	}
}

static void salvage(struct readers *readers)
{
	GPtrArray *const *sides = readers->what->sides;
	guint i, j;

	g_ptr_array_set_size(readers->copies, 0);
	for (i = 0; i < KC_SIDES && sides[i]; i++)
		for (j = 0; j < sides[i]->len; j++)
			salvage_lane(readers, g_ptr_array_index(sides[i], j));
}

/* What the reader may read of a lane. Copies have links to the traces themselves. */
static void add_readable(GPtrArray *all, const struct kc_lane *lane)
{
	guint i;

	for (i = 0; i < lane->folders->len; i++)
		g_ptr_array_add(all, g_ptr_array_index(lane->folders, i));
	for (i = 0; i < lane->readable->len; i++)
		g_ptr_array_add(all, g_ptr_array_index(lane->readable, i));
	if (lane->kallsyms)
		g_ptr_array_add(all, lane->kallsyms);
	if (lane->jit)
		g_ptr_array_add(all, lane->jit);
}

static GPtrArray *readable_of(const struct kc_reading *what)
{
	GPtrArray *all = g_ptr_array_new();
	guint i, j;

	for (i = 0; i < KC_SIDES && what->sides[i]; i++)
		for (j = 0; j < what->sides[i]->len; j++)
			add_readable(all, g_ptr_array_index(what->sides[i], j));
	g_ptr_array_add(all, NULL);
	return all;
}

static bool is_metadata(const char *path)
{
	return g_str_has_suffix(path, "/metadata");
}

static void add_sizes(const struct kc_salvage *salvage, struct kc_reader *reader)
{
	gpointer path, value;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, salvage->sizes);
	while (g_hash_table_iter_next(&iter, &path, &value)) {
		const struct kc_size *size = value;

		reader->bytes += size->data;
		if (is_metadata(path))
			reader->metadata += size->data;
	}
}

static int work(const struct kc_reader *reader, void *data)
{
	struct attempt *attempt = data;
	struct kc_graph *graph = &attempt->graph;
	struct kc_view view;

	/* What a reader that only tries says of a trace was said, or is said of the rest. */
	if (!graph->view) {
		dup2(attempt->nowhere, STDERR_FILENO);
		return kc_graph_show(graph, reader);
	}
	view = *graph->view;
	/* babeltrace2's own sink would open its file. */
	if (view.form == KC_RAW && view.path) {
		dup2(atoi(strrchr(view.path, '/') + 1), STDOUT_FILENO);
		view.path = NULL;
		graph->view = &view;
	}
	return kc_graph_show(graph, reader);
}

/* @view: NULL: nothing is shown. Return: as waitpid() says it. */
static int read_with(struct readers *readers, const struct kc_view *view)
{
	const struct kc_reading *what = readers->what;
	GPtrArray *readable = readable_of(what);
	struct kc_reader reader = {
		.readable = (const char *const *)readable->pdata,
		.tries = !view, .sysroot = what->view->sysroot, .stop = what->stop,
		.keeps = { what->nowhere, what->outputs[0], what->outputs[1] },
	};
	struct attempt attempt = {
		.graph = {
			.plugins = what->plugins, .sides = what->sides, .view = view,
			.left_out = g_hash_table_size(readers->salvage.hidden),
			.damaged = readers->copies->len,
			.stop = what->stop, .begun = readers->begun,
		},
		.nowhere = what->nowhere,
	};
	int status;

	add_sizes(&readers->salvage, &reader);
	status = kc_reader_run(&reader, work, &attempt);
	g_ptr_array_unref(readable);
	return status;
}

/* Files of traces, all streams or all metadata, that are not left out. */
static GPtrArray *files_of(const struct kc_salvage *salvage, bool metadata)
{
	GPtrArray *files = g_ptr_array_new();
	GHashTableIter iter;
	gpointer path;

	g_hash_table_iter_init(&iter, salvage->sizes);
	while (g_hash_table_iter_next(&iter, &path, NULL))
		if (is_metadata(path) == metadata &&
		    !g_hash_table_contains(salvage->hidden, path))
			g_ptr_array_add(files, path);
	return files;
}

/* Hide all files except @count from @first on, or show them again. */
static void hide(struct kc_salvage *salvage, GPtrArray *files, guint first, guint count,
		 bool hidden)
{
	guint i;

	for (i = 0; i < files->len; i++) {
		if (i >= first && i < first + count)
			continue;
		if (hidden)
			g_hash_table_add(salvage->hidden, g_ptr_array_index(files, i));
		else
			g_hash_table_remove(salvage->hidden, g_ptr_array_index(files, i));
	}
}

/*
 * Return: whether a reader dies of some of the files, the other ones left out; or fails. Where
 * there is no more memory, babeltrace2 does one or the other.
 */
static bool dies_of(struct readers *readers, GPtrArray *files, guint first, guint count)
{
	int status = 0;

	hide(&readers->salvage, files, first, count, true);
	salvage(readers);
	if (!*readers->what->stop && readers->count++ < KR_READERS)
		status = read_with(readers, NULL);
	hide(&readers->salvage, files, first, count, false);
	/* If there was no reader, or the user has interrupted it, nothing is known. */
	return status > 0 && !*readers->what->stop;
}

/* Return: the file that a reader dies of, of which the other half never is; or NULL. */
static char *find_among(struct readers *readers, GPtrArray *files)
{
	guint first = 0, count = files->len;
	bool shown = false;

	while (count > 1) {
		guint half = count / 2;

		shown = dies_of(readers, files, first, half);
		if (shown) {
			count = half;
		} else {
			first += half;
			count -= half;
		}
	}
	return count && (shown || dies_of(readers, files, first, count)) ?
	       g_ptr_array_index(files, first) : NULL;
}

/* Return: the stream that a reader dies of, or the metadata if it needs no stream for that. */
static char *find_bad(struct readers *readers)
{
	GPtrArray *streams = files_of(&readers->salvage, false);
	GPtrArray *metadata = files_of(&readers->salvage, true);
	char *bad = NULL;

	readers->salvage.silent = true;
	if (!dies_of(readers, streams, 0, 0)) {
		bad = find_among(readers, streams);
	} else if (metadata->len > 1) {
		hide(&readers->salvage, streams, 0, 0, true);
		bad = find_among(readers, metadata);
		hide(&readers->salvage, streams, 0, 0, false);
	}
	readers->salvage.silent = false;
	g_ptr_array_unref(streams);
	g_ptr_array_unref(metadata);
	return bad;
}

/* Leave out what the reader died of. Return: whether another one can be tried. */
static bool recover(struct readers *readers, int number)
{
	char *bad;

	kc_reader_say_died("the trace", number);
	if (*readers->begun && kc_view_is_printed(readers->what->view)) {
		kc_error("with -o FILE, the rest can be shown", "this is not the whole trace");
		return false;
	}
	readers->salvage.shorter = false;
	salvage(readers);
	if (readers->salvage.shorter)
		return true;
	bad = number == SIGXCPU ? NULL : find_bad(readers);
	if (!bad) {
		kc_error(NULL, "the trace cannot be shown: its metadata, or all of it, is damaged");
		return false;
	}
	kc_warn(bad, is_metadata(bad) ?
		     "its trace is left out, so the result is incomplete" :
		     "it is left out, so the result is incomplete");
	g_hash_table_add(readers->salvage.hidden, bad);
	salvage(readers);
	return true;
}

/* What a reader has written that died is worth nothing. What a pipe has taken stays there. */
static void empty(const int outputs[KC_OUTPUTS])
{
	struct stat st;
	int i;

	for (i = 0; i < KC_OUTPUTS; i++)
		if (outputs[i] >= 0 && !fstat(outputs[i], &st) && S_ISREG(st.st_mode) &&
		    (ftruncate(outputs[i], 0) || lseek(outputs[i], 0, SEEK_SET)))
			kc_error(NULL, "what was written cannot be discarded: %s", strerror(errno));
}

/* Return: a status. */
static int read_all(struct readers *readers)
{
	const struct kc_reading *what = readers->what;
	int status;

	salvage(readers);
	for (;;) {
		status = *what->stop ? 0 : read_with(readers, what->view);
		if (*what->stop)
			return KC_SIGNALLED(*what->stop);
		if (status < 0) {
			kc_error(NULL, "the reader of traces: %s", strerror(errno));
			return KC_FAILED;
		}
		if (WIFEXITED(status))
			return WEXITSTATUS(status) ?: readers->count ? KC_FAILED : 0;
		empty(what->outputs);
		if (readers->count++ >= KR_READERS || !recover(readers, WTERMSIG(status)))
			return *what->stop ? KC_SIGNALLED(*what->stop) : KC_FAILED;
	}
}

int kc_read_traces(const struct kc_reading *what)
{
	struct readers readers = {
		.what = what,
		.salvage = {
			.hidden = g_hash_table_new(kr_hash_string, g_str_equal),
			.sizes = g_hash_table_new_full(kr_hash_string, g_str_equal, g_free, g_free),
			.stop = what->stop,
		},
		.copies = g_ptr_array_new_with_free_func((GDestroyNotify)kc_salvage_remove),
		.begun = mmap(NULL, sizeof(*readers.begun), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	int status = KC_FAILED;

	if (readers.begun == MAP_FAILED) {
		kc_error(NULL, "%s", strerror(errno));
	} else {
		status = read_all(&readers);
		munmap((void *)readers.begun, sizeof(*readers.begun));
	}
	g_ptr_array_unref(readers.copies);
	g_hash_table_destroy(readers.salvage.hidden);
	g_hash_table_destroy(readers.salvage.sizes);
	return status;
}

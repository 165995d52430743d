// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Showing traces: a reader shows them (reader.h). If it dies, what it died of is left out
 * where that is possible, and another one shows the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "folders.h"
#include "graph.h"
#include "jit_names.h"
#include "output.h"
#include "pager.h"
#include "plugins.h"
#include "reader.h"
#include "reader_budgets.h"
#include "safe.h"
#include "salvage.h"
#include "view.h"

/* What ends what is shown and not this process, which would leave copies behind. */
static const int ending[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
#define NR_ENDING	G_N_ELEMENTS(ending)

static volatile sig_atomic_t stop;
static int nowhere = -1;

/* The reader of the output may be gone. Discard further output. */
static void interrupt(int number)
{
	int err = errno;

	stop = number;
	dup2(nowhere, STDOUT_FILENO);
	kc_reader_interrupt();
	kc_graph_interrupt();
	errno = err;
}

/*
 * A signal that is ignored, as nohup does it, stays so. A second one ends this process:
 * the graph notices the first one only between two messages.
 */
static void catch_signals(struct sigaction before[NR_ENDING])
{
	const struct sigaction action = {
		.sa_handler = interrupt,
		.sa_flags = SA_RESETHAND,
	};
	size_t i;

	stop = 0;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	/* It is the reader's, which has it from here. */
	sigaction(KC_READER_SIGNAL, &action, NULL);
	for (i = 0; i < NR_ENDING; i++) {
		sigaction(ending[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &action, NULL);
	}
}

static void restore_signals(const struct sigaction before[NR_ENDING])
{
	size_t i;

	for (i = 0; i < NR_ENDING; i++)
		sigaction(ending[i], &before[i], NULL);
	signal(KC_READER_SIGNAL, SIG_DFL);
	close(nowhere);
}

static void free_lane(gpointer data)
{
	struct kc_lane *lane = data;

	g_free(lane->kallsyms);
	g_free(lane->jit);
	g_ptr_array_unref(lane->folders);
	g_ptr_array_unref(lane->readable);
	g_free(lane);
}

/* Traces below @top, by what names their kernel's addresses and their compiled code. */
static GPtrArray *lanes_of(const char *top, GPtrArray *folders, const struct kc_view *view)
{
	GPtrArray *lanes = g_ptr_array_new_with_free_func(free_lane);
	struct kc_lane *lane = NULL;
	guint i, j;

	for (i = 0; i < folders->len; i++) {
		char *folder = g_ptr_array_index(folders, i);
		/* The user may name a link. The reader follows none. */
		char *kallsyms = view->kallsyms ? kc_real_path(view->kallsyms) :
						  kc_find_beside(top, folder, "kallsyms", S_IFREG);
		char *jit = kc_find_beside(top, folder, KC_JIT_NAMES, S_IFDIR);

		for (j = 0, lane = NULL; j < lanes->len && !lane; j++) {
			lane = g_ptr_array_index(lanes, j);
			if (g_strcmp0(lane->kallsyms, kallsyms) ||
			    g_strcmp0(lane->jit, jit))
				lane = NULL;
		}
		if (lane) {
			g_free(kallsyms);
			g_free(jit);
		} else {
			lane = g_new0(struct kc_lane, 1);
			lane->kallsyms = kallsyms;
			lane->jit = jit;
			lane->folders = g_ptr_array_new_with_free_func(g_free);
			lane->readable = g_ptr_array_new_with_free_func(g_free);
			g_ptr_array_add(lanes, lane);
		}
		g_ptr_array_add(lane->folders, g_strdup(folder));
	}
	return lanes;
}

/* Return: the lanes of all traces below a folder; NULL if there is none, and that was said. */
static GPtrArray *find_lanes(const char *folder, const struct kc_view *view)
{
	GPtrArray *folders = kc_find_traces(folder), *lanes;

	if (!folders)
		return NULL;
	lanes = lanes_of(folder, folders, view);
	g_ptr_array_unref(folders);
	return lanes;
}

/**
 * struct output - where the reader writes
 * @output: a file or folder; zeroed: the standard output
 * @fd: what the reader is given of it, or -1
 * @path: what the reader knows it by
 */
struct output {
	struct kr_output output;
	int fd;
	char *path;
};

/**
 * struct showing - what is shown
 * @sides: struct kc_lane of each
 * @plugins: of babeltrace2
 * @view: how; its paths are of descriptors
 * @file: what @view writes
 * @page: its page
 * @salvage: what is left out
 * @copies: of damaged traces, to be removed
 * @readers: how many died
 * @begun: shared with the reader: it may have printed something
 */
struct showing {
	GPtrArray *sides[KC_SIDES];
	struct kc_plugins plugins;
	struct kc_view view;
	struct output file;
	struct output page;
	struct kc_salvage salvage;
	GPtrArray *copies;
	unsigned int readers;
	volatile bool *begun;
};

/* Replace damaged traces by what can be read of them. */
static void salvage_lane(struct showing *showing, struct kc_lane *lane)
{
	guint i;

	g_ptr_array_set_size(lane->readable, 0);
	for (i = 0; i < lane->folders->len && !stop; i++) {
		const char *folder = g_ptr_array_index(lane->folders, i);
		char *metadata = g_build_filename(folder, "metadata", NULL);
		bool hidden = g_hash_table_contains(showing->salvage.hidden, metadata);
		char *instead = hidden ? NULL : kc_salvage(folder, &showing->salvage);

		if (instead)
			g_ptr_array_add(showing->copies, instead);
		if (!hidden)
			g_ptr_array_add(lane->readable, g_strdup(instead ?: folder));
		g_free(metadata);
	}
}

static void salvage(struct showing *showing)
{
	guint i, j;

	g_ptr_array_set_size(showing->copies, 0);
	for (i = 0; i < KC_SIDES && showing->sides[i]; i++)
		for (j = 0; j < showing->sides[i]->len; j++)
			salvage_lane(showing, g_ptr_array_index(showing->sides[i], j));
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

static GPtrArray *readable_of(const struct showing *showing)
{
	GPtrArray *all = g_ptr_array_new();
	guint i, j;

	for (i = 0; i < KC_SIDES && showing->sides[i]; i++)
		for (j = 0; j < showing->sides[i]->len; j++)
			add_readable(all, g_ptr_array_index(showing->sides[i], j));
	g_ptr_array_add(all, NULL);
	return all;
}

static bool is_metadata(const char *path)
{
	return g_str_has_suffix(path, "/metadata");
}

static void add_sizes(const struct showing *showing, struct kc_reader *reader)
{
	gpointer path, value;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, showing->salvage.sizes);
	while (g_hash_table_iter_next(&iter, &path, &value)) {
		const struct kc_size *size = value;

		reader->bytes += size->data;
		if (is_metadata(path))
			reader->metadata += size->data;
	}
}

static int work(const struct kc_reader *reader, void *data)
{
	struct kc_graph *graph = data;
	struct kc_view view = *graph->view;
	int fd;

	/* babeltrace2's own sink would open its file. */
	if (view.form == KC_RAW && view.path) {
		fd = atoi(strrchr(view.path, '/') + 1);
		dup2(fd, STDOUT_FILENO);
		view.path = NULL;
		graph->view = &view;
	}
	return kc_graph_show(graph, reader);
}

/* What a reader that only tries says of a trace was said, or is said of the rest. */
static int work_silently(const struct kc_reader *reader, void *data)
{
	dup2(nowhere, STDERR_FILENO);
	return kc_graph_show(data, reader);
}

/* @view: NULL: nothing is shown. Return: as waitpid() says it. */
static int read_with(struct showing *showing, const struct kc_view *view)
{
	GPtrArray *readable = readable_of(showing);
	struct kc_reader reader = {
		.readable = (const char *const *)readable->pdata,
		.tries = !view, .sysroot = showing->view.sysroot,
		.keeps = { nowhere, showing->file.fd, showing->page.fd },
	};
	struct kc_graph graph = {
		.plugins = &showing->plugins, .sides = showing->sides, .view = view,
		.stop = &stop, .begun = showing->begun,
	};
	int status;

	add_sizes(showing, &reader);
	status = kc_reader_run(&reader, view ? work : work_silently, &graph);
	g_ptr_array_unref(readable);
	return status;
}

/* Files of traces, all streams or all metadata, that are not left out. */
static GPtrArray *files_of(const struct showing *showing, bool metadata)
{
	GPtrArray *files = g_ptr_array_new();
	GHashTableIter iter;
	gpointer path;

	g_hash_table_iter_init(&iter, showing->salvage.sizes);
	while (g_hash_table_iter_next(&iter, &path, NULL))
		if (is_metadata(path) == metadata &&
		    !g_hash_table_contains(showing->salvage.hidden, path))
			g_ptr_array_add(files, path);
	return files;
}

/* Hide all files except @count from @first on, or show them again. */
static void hide(struct showing *showing, GPtrArray *files, guint first, guint count, bool hidden)
{
	guint i;

	for (i = 0; i < files->len; i++) {
		if (i >= first && i < first + count)
			continue;
		if (hidden)
			g_hash_table_add(showing->salvage.hidden, g_ptr_array_index(files, i));
		else
			g_hash_table_remove(showing->salvage.hidden, g_ptr_array_index(files, i));
	}
}

/* Return: whether a reader dies of some of the files, the other ones left out. */
static bool dies_of(struct showing *showing, GPtrArray *files, guint first, guint count)
{
	int status = 0;

	hide(showing, files, first, count, true);
	salvage(showing);
	if (!stop && showing->readers++ < KR_READERS)
		status = read_with(showing, NULL);
	hide(showing, files, first, count, false);
	return WIFSIGNALED(status);
}

/* Return: the file that a reader dies of, of which the other half never is; or NULL. */
static char *find_among(struct showing *showing, GPtrArray *files)
{
	guint first = 0, count = files->len;
	bool shown = false;

	while (count > 1) {
		guint half = count / 2;

		shown = dies_of(showing, files, first, half);
		if (shown) {
			count = half;
		} else {
			first += half;
			count -= half;
		}
	}
	return count && (shown || dies_of(showing, files, first, count)) ?
	       g_ptr_array_index(files, first) : NULL;
}

/* Return: the stream that a reader dies of, or the metadata if it needs no stream for that. */
static char *find_bad(struct showing *showing)
{
	GPtrArray *streams = files_of(showing, false);
	GPtrArray *metadata = files_of(showing, true);
	char *bad = NULL;

	showing->salvage.silent = true;
	if (!dies_of(showing, streams, 0, 0)) {
		bad = find_among(showing, streams);
	} else if (metadata->len > 1) {
		hide(showing, streams, 0, 0, true);
		bad = find_among(showing, metadata);
		hide(showing, streams, 0, 0, false);
	}
	showing->salvage.silent = false;
	g_ptr_array_unref(streams);
	g_ptr_array_unref(metadata);
	return bad;
}

static void say_died(int number)
{
	if (number == SIGXCPU)
		kc_error(NULL, "reading the trace took too long");
	else
		kc_error(NULL, "reading the trace took too much memory, or failed badly (%s)",
			 strsignal(number));
}

static bool is_printed(const struct kc_view *view)
{
	return !view->path && (view->form == KC_FULL || view->form == KC_RAW);
}

/* Leave out what the reader died of. Return: whether another one can be tried. */
static bool recover(struct showing *showing, int number)
{
	GString *line;
	char *bad;

	say_died(number);
	if (*showing->begun && is_printed(&showing->view)) {
		kc_error("with -o FILE, the rest can be shown", "this is not the whole trace");
		return false;
	}
	showing->salvage.shorter = false;
	salvage(showing);
	if (showing->salvage.shorter)
		return true;
	bad = number == SIGXCPU ? NULL : find_bad(showing);
	if (!bad) {
		kc_error(NULL, "the trace cannot be shown: its metadata, or all of it, is damaged");
		return false;
	}
	line = g_string_new("kunwind: warning: ");
	kr_safe_append(line, bad);
	fprintf(stderr, "%s: %s left out, so the result is incomplete\n", line->str,
		is_metadata(bad) ? "its trace is" : "it is");
	g_string_free(line, TRUE);
	g_hash_table_add(showing->salvage.hidden, bad);
	salvage(showing);
	return true;
}

/* What a reader has written that died is worth nothing. */
static void empty(const struct output *output)
{
	if (output->output.partial &&
	    (ftruncate(output->fd, 0) || lseek(output->fd, 0, SEEK_SET)))
		kc_error(NULL, "%s: %s", output->output.partial, strerror(errno));
}

/* Return: a status. */
static int read_all(struct showing *showing)
{
	int status;

	salvage(showing);
	for (;;) {
		status = stop ? 0 : read_with(showing, &showing->view);
		if (stop)
			return KC_SIGNALLED(stop);
		if (status < 0) {
			kc_error(NULL, "the reader of traces: %s", strerror(errno));
			return KC_FAILED;
		}
		if (WIFEXITED(status))
			return WEXITSTATUS(status) ?: showing->readers ? KC_FAILED : 0;
		empty(&showing->file);
		empty(&showing->page);
		if (showing->readers++ >= KR_READERS || !recover(showing, WTERMSIG(status)))
			return stop ? KC_SIGNALLED(stop) : KC_FAILED;
	}
}

/* Have the reader write into a file or a folder. @path: in: its name; out: its descriptor */
static bool begin_output(struct output *output, const char **path, bool folder)
{
	if (!*path)
		return true;
	if (folder ? kr_output_begin_folder(&output->output, *path) :
		     kr_output_begin(&output->output, *path))
		output->fd = folder ? kr_output_pack(&output->output) : output->output.fd;
	if (output->fd < 0) {
		kc_error(NULL, "%s: %s", *path, strerror(errno));
		return false;
	}
	*path = output->path = g_strdup_printf("/dev/fd/%d", output->fd);
	return true;
}

/* Give it its name. A reader that did not write all of it has left nothing. */
static int end_output(struct output *output, int status)
{
	struct kr_output *file = &output->output;
	struct stat st = { 0 };

	if (file->partial && (!status || (!fstat(output->fd, &st) && st.st_size)) &&
	    ((file->folder && !kr_output_unpack(file, output->fd)) || !kr_output_end(file))) {
		kc_error(NULL, "%s: %s", file->path, strerror(errno));
		status = KC_FAILED;
	}
	if (file->folder && output->fd >= 0)
		close(output->fd);
	kr_output_drop(file);
	g_free(output->path);
	return status;
}

/* Show lanes into files or to the standard output. Return: a status. */
static int show(struct showing *showing)
{
	struct kc_view *view = &showing->view;
	int status = KC_FAILED;

	if (begin_output(&showing->file, &view->path, view->form == KC_UFTRACE) &&
	    begin_output(&showing->page, &view->page, false))
		status = read_all(showing);
	status = end_output(&showing->file, status);
	return end_output(&showing->page, status);
}

/* Return: a status. */
static int show_sides(struct showing *showing)
{
	struct kc_view *view = &showing->view;
	struct sigaction before[NR_ENDING];
	struct kc_pager pager = { 0 };
	int status;

	if (is_printed(view) &&
	    !kc_pager_begin(&pager, &view->color, view->form == KC_RAW)) {
		kc_error(NULL, "%s", strerror(errno));
		return KC_FAILED;
	}
	catch_signals(before);
	status = show(showing);
	kc_pager_end(&pager);
	restore_signals(before);
	return status;
}

static void init(struct showing *showing)
{
	showing->salvage.stop = &stop;
	showing->salvage.hidden = g_hash_table_new(g_str_hash, g_str_equal);
	showing->salvage.sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	showing->copies = g_ptr_array_new_with_free_func((GDestroyNotify)kc_salvage_remove);
	showing->begun = mmap(NULL, sizeof(*showing->begun), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void fini(struct showing *showing)
{
	if (showing->begun != MAP_FAILED)
		munmap((void *)showing->begun, sizeof(*showing->begun));
	g_ptr_array_unref(showing->copies);
	g_hash_table_destroy(showing->salvage.hidden);
	g_hash_table_destroy(showing->salvage.sizes);
	g_clear_pointer(&showing->sides[0], g_ptr_array_unref);
	g_clear_pointer(&showing->sides[1], g_ptr_array_unref);
	kc_plugins_put(&showing->plugins);
}

int kc_show(const char *folder, const struct kc_view *view)
{
	struct showing showing = {
		.view = *view, .file = { .fd = -1 }, .page = { .fd = -1 },
	};
	int status = KC_FAILED;

	showing.view.form = view->form ?: isatty(STDOUT_FILENO) && !view->path ? KC_SUMMARY :
										  KC_FULL;
	if (showing.view.path && !strcmp(showing.view.path, "-"))
		showing.view.path = NULL;
	if (!kc_view_possible(&showing.view))
		return KC_FAILED;
	init(&showing);
	showing.sides[0] = find_lanes(folder, &showing.view);
	if (showing.sides[0] && view->before)
		showing.sides[1] = find_lanes(view->before, &showing.view);
	if (showing.sides[0] && (!view->before || showing.sides[1]) &&
	    showing.begun != MAP_FAILED &&
	    kc_plugins_load(&showing.plugins, showing.view.form))
		status = show_sides(&showing);
	fini(&showing);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Showing traces: where to, and what ends it. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "graph.h"
#include "lanes.h"
#include "output.h"
#include "pager.h"
#include "plugins.h"
#include "reader.h"
#include "reading.h"
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
 * @reading: what is read
 * @plugins: of babeltrace2
 * @view: how; its paths are of descriptors
 * @file: what @view writes
 * @page: its page
 */
struct showing {
	struct kc_reading reading;
	struct kc_plugins plugins;
	struct kc_view view;
	struct output file;
	struct output page;
};

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

/* A part of the trace is better than no file, and worse than what an earlier report has left. */
static bool is_worse(const struct kr_output *file, int status)
{
	return stop && status && file->partial && !file->folder && !access(file->path, F_OK);
}

/*
 * Give it its name. A reader that died has left nothing. One that could not read to the end, or
 * that a signal has ended, has left what it had read, and that is said.
 */
static int end_output(struct output *output, int status)
{
	struct kr_output *file = &output->output;
	struct stat st = { 0 };

	if (is_worse(file, status)) {
		kc_error("run the command again to write all of it",
			 "%s: it is as before, because a signal ended the reading", file->path);
	} else if (file->partial && (!status || (!fstat(output->fd, &st) && st.st_size)) &&
		   ((file->folder && !kr_output_unpack(file, output->fd)) || !kr_output_end(file))) {
		kc_error(NULL, "%s: %s", file->path, strerror(errno));
		status = KC_FAILED;
	} else if (stop && file->path && !file->partial) {
		kc_error(NULL, "%s: it is not whole, because a signal ended the reading",
			 file->path);
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
	struct kc_reading *reading = &showing->reading;
	struct kc_view *view = &showing->view;
	int status = KC_FAILED;

	if (begin_output(&showing->file, &view->path, view->form == KC_UFTRACE) &&
	    begin_output(&showing->page, &view->page, false)) {
		reading->outputs[0] = showing->file.fd;
		reading->outputs[1] = showing->page.fd;
		reading->nowhere = nowhere;
		status = kc_read_traces(reading);
	}
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

	if (kc_view_is_printed(view) &&
	    !kc_pager_begin(&pager, &view->color, view->form == KC_RAW)) {
		kc_error(NULL, "%s", strerror(errno));
		return KC_FAILED;
	}
	view->paged = pager.pid;
	catch_signals(before);
	status = show(showing);
	kc_pager_end(&pager);
	restore_signals(before);
	return status;
}

int kc_show(const char *folder, const struct kc_view *view)
{
	struct showing showing = {
		.view = *view, .file = { .fd = -1 }, .page = { .fd = -1 },
		.reading = {
			.plugins = &showing.plugins, .view = &showing.view, .stop = &stop,
		},
	};
	GPtrArray **sides = showing.reading.sides;
	int status = KC_FAILED;

	if (showing.view.path && !strcmp(showing.view.path, "-"))
		showing.view.path = NULL;
	if (!view->form)
		showing.view.form = isatty(STDOUT_FILENO) && !showing.view.path ? KC_SUMMARY :
										  KC_FULL;
	if (!kc_view_possible(&showing.view))
		return KC_FAILED;
	sides[0] = kc_lanes_find(folder, view->kallsyms);
	if (sides[0] && view->before)
		sides[1] = kc_lanes_find(view->before, view->kallsyms);
	if (sides[0] && (!view->before || sides[1]) &&
	    kc_plugins_load(&showing.plugins, showing.view.form))
		status = show_sides(&showing);
	g_clear_pointer(&sides[0], g_ptr_array_unref);
	g_clear_pointer(&sides[1], g_ptr_array_unref);
	kc_plugins_put(&showing.plugins);
	return status;
}

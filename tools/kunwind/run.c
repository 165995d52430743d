// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A recording that is shown when it ends: what trace and profile share. */
#include <errno.h>
#include <glib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "jit_names.h"
#include "run.h"

#define KALLSYMS	"/proc/kallsyms"

enum key {
	NO_VIEW = 768,
	DURATION,
};

/* Return: the bytes of "64M"; 0 if it is no size, or none that LTTng takes. */
static uint64_t parse_size(const char *text)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t size = g_ascii_strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, g_ascii_toupper(*end)) : NULL;

	if (*end && (!unit || end[1]))
		return 0;
	if (size > 1 << 21)
		return unit ? 0 : size <= 2ULL << 30 ? size : 0;
	size <<= unit ? 10 * (unit - units + 1) : 0;
	return size >= 64 << 10 && size <= 2ULL << 30 ? size : 0;
}

time_t kc_parse_seconds(struct argp_state *state, const char *option,
			const char *arg)
{
	char *end;
	long value = strtol(arg, &end, 10);

	if (*end || value <= 0 || value > INT_MAX)
		argp_error(state, "%s is a number of seconds", option);
	return value;
}

static void choose_process(struct argp_state *state, struct kc_recording *recording,
			   const char *arg)
{
	char *end;
	long pid = strtol(arg, &end, 10);
	int fd = *end || pid <= 0 || pid > INT_MAX ? -1 :
		 (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);

	if (fd < 0)
		argp_error(state, "there is no process %s", arg);
	if (recording->pidfd >= 0)
		close(recording->pidfd);
	recording->pidfd = fd;
	recording->pid = (pid_t)pid;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct kc_run *run = state->input;
	struct kc_recording *recording = &run->recording;

	switch (key) {
	case ARGP_KEY_INIT:
		recording->pidfd = -1;
		state->child_inputs[0] = &run->view;
		return 0;
	case 'o':
		recording->folder = arg;
		return 0;
	case 'p':
		choose_process(state, recording, arg);
		return 0;
	case NO_VIEW:
		run->no_view = true;
		return 0;
	case 'm':
		recording->rules.buffer_bytes = parse_size(arg);
		if (!recording->rules.buffer_bytes)
			argp_error(state, "-m is a size, such as 64M, of 64 KiB to 2 GiB");
		return 0;
	case DURATION:
		recording->duration = kc_parse_seconds(state, "--duration", arg);
		return 0;
	case ARGP_KEY_ARGS:
		recording->command = state->argv + state->next;
		if (recording->pid)
			argp_error(state, "either a process or a command");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option takes[] = {
	{ "output", 'o', "DIR", 0,
	  "Put the trace there (default: kunwind-DATE-TIME-XXXXXX here, or in /tmp if nothing can be written here)", 5 },
	{ "pid", 'p', "PID", 0,
	  "Record a process that already runs, and its descendants, until it ends", 5 },
	{ "duration", DURATION, "SECONDS", 0, "Record for so long", 5 },
	{ "buffer", 'm', "SIZE", 0,
	  "Record into buffers of SIZE for each CPU, such as 64M", 5 },
	{ "no-view", NO_VIEW, NULL, 0, "Record only", 5 },
	{ 0 },
};

static const struct argp_child children[] = { { &kc_view_argp, 0, NULL, 0 }, { 0 } };

const struct argp kc_run_argp = {
	.options = takes, .parser = parse, .children = children,
};

/*
 * The kernel's names are those of this boot; without privilege they are zero, so that
 * nobody else may read them here.
 */
static void copy_kallsyms(const char *folder)
{
	char *to = g_build_filename(folder, "kallsyms", NULL), *text;
	gsize size;

	if (g_file_get_contents(KALLSYMS, &text, &size, NULL)) {
		if (strstr(text, "\nffff"))
			(void)g_file_set_contents_full(to, text, (gssize)size,
						       G_FILE_SET_CONTENTS_CONSISTENT,
						       0600, NULL);
		g_free(text);
	}
	g_free(to);
}

/*
 * The trace has stacks of other users, and /tmp is anybody's: nobody else may read the folder,
 * have made it, or wait for its name. Return: a new one, named by the time; NULL if that was said.
 */
static char *make_dated_folder(void)
{
	time_t now = time(NULL);
	char name[64], *folder;
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(name, sizeof(name), "kunwind-%Y%m%d-%H%M%S-XXXXXX", &tm);
	/* As in the guest of ./run.sh shell, whose repository is read-only. */
	folder = access(".", W_OK) ? g_build_filename(g_get_tmp_dir(), name, NULL) :
				     g_strdup(name);
	if (mkdtemp(folder))
		return folder;
	kc_error("-o DIR puts the trace elsewhere", "%s: %s", folder, strerror(errno));
	g_free(folder);
	return NULL;
}

/* LTTng would do it, and say less when it cannot. Nobody else may read it, either. */
static bool make_folder(const char *folder)
{
	char *parent = g_path_get_dirname(folder);
	bool made = !g_mkdir_with_parents(parent, 0777) && !mkdir(folder, 0700);

	if (!made)
		kc_error("-o DIR puts the trace elsewhere", "%s: %s", folder, strerror(errno));
	g_free(parent);
	return made;
}

/* Return: whether a view goes to the standard output, where a command's output goes. */
static bool is_printed(const struct kc_view *view)
{
	return !view->path || !strcmp(view->path, "-");
}

/* What it recorded is in @folder. Return: a status. */
static int show(struct kc_run *run, const char *folder)
{
	char *page = NULL;
	int status;

	if (run->page && run->view.form == KC_TOP)
		page = g_build_filename(folder, run->page, NULL);
	run->view.page = page;
	status = kc_show(folder, &run->view);
	if (page && !status)
		fprintf(stderr, "kunwind: flame graphs are in %s\n", page);
	run->view.page = NULL;
	g_free(page);
	return status;
}

int kc_run(struct kc_run *run)
{
	struct kc_recording *recording = &run->recording;
	char *absolute, *own = NULL;
	int status = KC_FAILED, shown;
	time_t begin = time(NULL);

	if (!recording->folder) {
		own = make_dated_folder();
		if (!own)
			return KC_FAILED;
		recording->folder = own;
	}
	absolute = g_canonicalize_filename(recording->folder, NULL);
	recording->folder = absolute;
	recording->gives_way = !run->no_view && is_printed(&run->view) &&
			       !isatty(STDOUT_FILENO);
	if (!own && g_file_test(absolute, G_FILE_TEST_EXISTS)) {
		kc_error("choose another folder", "%s exists", absolute);
	} else if (own || make_folder(absolute)) {
		(void)kc_session_leftovers(false);
		status = kc_record(recording);
		/* It is empty if there was no session, or none that began. */
		if (!rmdir(absolute) || errno == ENOENT) {
			if (!recording->failed)
				kc_error(NULL, "nothing was recorded");
			status = status ?: KC_FAILED;
		} else {
			if (recording->rules.kernel_stack)
				copy_kallsyms(absolute);
			kc_keep_jit_names(absolute, begin);
			if (!run->no_view && !recording->failed) {
				shown = show(run, absolute);
				status = status ?: shown;
			}
			if (own)
				fprintf(stderr, "kunwind: the trace is in %s; kunwind report shows it again\n",
					absolute);
		}
	}
	g_free(absolute);
	g_free(own);
	return status;
}

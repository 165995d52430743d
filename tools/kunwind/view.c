// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The options that say how a trace is shown. */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "view.h"

enum key {
	SUMMARY = 512,
	TOP,
	FULL,
	RAW,
	FOLDED,
	FLAME,
	PERFETTO,
	PPROF,
	SPEEDSCOPE,
	UFTRACE,
	COUNT,
	FILTER,
	MAX_STACK,
	COLOR,
	SYSROOT,
	KALLSYMS,
};

static const char *const counts[] = { "events", "time", NULL };

/* A longer number may not fit into 32 bits. */
#define MAX_DIGITS	9

/* Which options go with which forms. */
#define LISTS	(1 << KC_SUMMARY | 1 << KC_TOP | 1 << KC_FULL | 1 << KC_DEFAULT)
#define STACKS	(1 << KC_FOLDED | 1 << KC_FLAME | 1 << KC_SPEEDSCOPE)

static void choose_form(struct argp_state *state, enum kc_form form)
{
	struct kc_view *view = state->input;

	if (view->form != KC_DEFAULT && view->form != form)
		argp_error(state, "one of --summary, --top, --full, --raw, --folded, --flame, --perfetto, --pprof, --speedscope and --uftrace at a time");
	view->form = form;
}

static void check(struct argp_state *state, const char *option, const char *given,
		  unsigned int forms, const char *which)
{
	const struct kc_view *view = state->input;

	if (given && !(forms >> (view->form ?: view->instead) & 1))
		argp_error(state, "%s goes with %s", option, which);
}

/* Before a recording, which can take hours, and not when it is shown. */
static void check_filter(struct argp_state *state, const char *filter)
{
	GError *err = NULL;
	GRegex *regex = g_regex_new(filter, 0, 0, &err);

	if (!regex)
		argp_error(state, "--filter: %s", err->message);
	g_clear_error(&err);
	g_clear_pointer(&regex, g_regex_unref);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct kc_view *view = state->input;

	switch (key) {
	case SUMMARY:
	case TOP:
	case FULL:
	case RAW:
	case FOLDED:
	case FLAME:
	case PERFETTO:
	case PPROF:
	case SPEEDSCOPE:
	case UFTRACE:
		choose_form(state, (enum kc_form)(key - SUMMARY + KC_SUMMARY));
		if (arg)
			view->path = arg;
		return 0;
	case COUNT:
		kc_choose(state, "--count", arg, counts);
		view->count = arg;
		return 0;
	case FILTER:
		check_filter(state, arg);
		view->filter = arg;
		return 0;
	case MAX_STACK:
		if (!*arg || arg[strspn(arg, "0123456789")] || strlen(arg) > MAX_DIGITS)
			argp_error(state, "--max-stack is a number of frames, of at most %d digits",
				   MAX_DIGITS);
		view->max_stack = arg;
		return 0;
	case COLOR:
		kc_choose(state, "--color", arg, kc_colors);
		view->color = arg;
		return 0;
	case SYSROOT:
		if (!g_file_test(arg, G_FILE_TEST_IS_DIR))
			argp_error(state, "--sysroot: there is no folder %s", arg);
		view->sysroot = arg;
		return 0;
	case KALLSYMS:
		view->kallsyms = arg;
		return 0;
	case ARGP_KEY_END:
		if (view->form == KC_UFTRACE && !strcmp(view->path, "-"))
			argp_error(state, "--uftrace needs a folder");
		check(state, "--color", view->color, LISTS, "--summary, --top and --full");
		check(state, "--max-stack", view->max_stack, LISTS & ~(1 << KC_TOP),
		      "--summary and --full");
		check(state, "--count", view->count, STACKS, "--folded, --flame and --speedscope");
		check(state, "--filter", view->filter, LISTS | STACKS | 1 << KC_PPROF | 1 << KC_UFTRACE,
		      "all but --raw and --perfetto");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Return: 0, or why not: what is there would be lost, or its parent cannot be changed. */
static int may_become_folder(const char *path, const char *parent)
{
	GDir *folder = g_dir_open(path, 0, NULL);
	bool used = folder ? g_dir_read_name(folder) != NULL :
			     g_file_test(path, G_FILE_TEST_EXISTS);

	if (folder)
		g_dir_close(folder);
	return used ? EEXIST : access(parent, W_OK | X_OK) ? errno : 0;
}

static bool kallsyms_possible(const char *path)
{
	if (!path || (g_file_test(path, G_FILE_TEST_IS_REGULAR) && !access(path, R_OK)))
		return true;
	kc_error(NULL, "--kallsyms: %s: %s", path,
		 access(path, R_OK) ? strerror(errno) : "it is no regular file");
	return false;
}

bool kc_view_possible(const struct kc_view *view)
{
	char *folder = view->path ? g_path_get_dirname(view->path) : NULL;
	int err = 0;

	if (!view->path || !strcmp(view->path, "-"))
		err = 0;
	else if (view->form == KC_UFTRACE)
		err = may_become_folder(view->path, folder);
	else if (g_file_test(view->path, G_FILE_TEST_IS_DIR))
		err = EISDIR;
	else if (access(view->path, W_OK) &&
		 (errno != ENOENT || g_file_test(view->path, G_FILE_TEST_IS_SYMLINK)))
		err = errno;
	/* A file is written under another name first; a pipe or a device is not. */
	else if ((access(view->path, F_OK) ||
		  g_file_test(view->path, G_FILE_TEST_IS_REGULAR)) &&
		 access(folder, W_OK | X_OK))
		err = errno;
	if (err)
		kc_error(NULL, "%s: %s", view->path, strerror(err));
	g_free(folder);
	return !err && kallsyms_possible(view->kallsyms);
}

bool kc_view_is_printed(const struct kc_view *view)
{
	return !view->path && (view->form == KC_FULL || view->form == KC_RAW);
}

static const struct argp_option takes[] = {
	{ NULL, 0, NULL, 0, "How the trace is shown:", 10 },
	{ "summary", SUMMARY, NULL, 0,
	  "Print one screen: how many events, how long, which failed, and the stacks that cost most (default of trace and report on a terminal)", 10 },
	{ "top", TOP, NULL, 0, "Print the functions that cost most (default of profile and report --diff)", 10 },
	{ "full", FULL, NULL, 0,
	  "Print each system call and event with its stack; on a terminal, in a pager (default of trace and report elsewhere)", 10 },
	{ "raw", RAW, NULL, 0, "Print babeltrace2's lines, with addresses", 10 },
	{ "folded", FOLDED, NULL, 0,
	  "Print a line for each distinct stack, with its count", 10 },
	{ "flame", FLAME, "FILE", 0, "Write flame graphs, as one page of HTML", 10 },
	{ "perfetto", PERFETTO, "FILE", 0,
	  "Write a timeline, for ui.perfetto.dev", 10 },
	{ "pprof", PPROF, "FILE", 0,
	  "Write a profile for pprof, and for what ingests its format", 10 },
	{ "speedscope", SPEEDSCOPE, "FILE", 0,
	  "Write what each thread did over time, for speedscope", 10 },
	{ "uftrace", UFTRACE, "DIR", 0,
	  "Write a folder of entries and exits of functions, for uftrace", 10 },
	{ NULL, 0, NULL, 0, "What of it:", 11 },
	{ "filter", FILTER, "REGEX", 0,
	  "Show events only whose name, process, or a function or module of whose stack matches; not for --raw and --perfetto", 11 },
	{ "max-stack", MAX_STACK, "N", 0, "For --summary and --full: show N frames of a stack at most", 11 },
	{ "count", COUNT, "WHAT", 0,
	  "For --folded, --flame and --speedscope: count events, or time in system calls", 11 },
	{ "color", COLOR, "WHEN", 0, "For --summary, --top and --full: use colours: auto, always or never", 11 },
	{ "sysroot", SYSROOT, "DIR", 0, "Find the files of the traced machine there", 11 },
	{ "kallsyms", KALLSYMS, "FILE", 0,
	  "Use this copy of the traced machine's /proc/kallsyms", 11 },
	{ 0 },
};

const struct argp kc_view_argp = { .options = takes, .parser = parse };

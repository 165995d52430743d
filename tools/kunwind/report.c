// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind report: show a trace that was recorded. */
#include <stddef.h>
#include <string.h>
#include "command.h"

/* @form: which of --text, --folded, --flame and --perfetto was asked for, or 0 */
struct options {
	const char *folder;
	struct kc_view view;
	int form;
};

enum key {
	SYSROOT = 256,
	KALLSYMS,
	COLOR,
	COUNT,
	TEXT,
	FOLDED,
	FLAME,
	PERFETTO,
};

static const char *const counts[] = { "events", "time", NULL };

static void choose_form(struct argp_state *state, int key, const char *sink,
			const char *format)
{
	struct options *options = state->input;

	if (options->form && options->form != key)
		argp_error(state, "one of --text, --folded, --flame and --perfetto at a time");
	options->form = key;
	options->view.sink = sink;
	options->view.format = format;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'o':
		options->view.path = arg;
		return 0;
	case SYSROOT:
		options->view.sysroot = arg;
		return 0;
	case KALLSYMS:
		options->view.kallsyms = arg;
		return 0;
	case COLOR:
		kc_choose(state, "--color", arg, kc_colors);
		options->view.color = arg;
		return 0;
	case COUNT:
		kc_choose(state, "--count", arg, counts);
		options->view.count = arg;
		return 0;
	case TEXT:
		choose_form(state, key, "text", NULL);
		return 0;
	case FOLDED:
		choose_form(state, key, "flamegraph", "folded");
		return 0;
	case FLAME:
		choose_form(state, key, "flamegraph", "html");
		options->view.path = arg;
		return 0;
	case PERFETTO:
		choose_form(state, key, "perfetto", NULL);
		options->view.path = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->folder)
			return ARGP_ERR_UNKNOWN;
		options->folder = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->folder)
			argp_error(state, "which trace?");
		if (options->view.color && strcmp(options->view.sink, "text"))
			argp_error(state, "--color goes with --text");
		if (options->view.count && strcmp(options->view.sink, "flamegraph"))
			argp_error(state, "--count goes with --folded or --flame");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int kc_report(int argc, char **argv)
{
	static const struct argp_option takes[] = {
		{ "text", TEXT, NULL, 0,
		  "Print system calls and events, each with its stack (default)", 0 },
		{ "folded", FOLDED, NULL, 0,
		  "Print a line for each distinct stack, with its count", 0 },
		{ "flame", FLAME, "FILE", 0,
		  "Write flame graphs, as one page of HTML", 0 },
		{ "perfetto", PERFETTO, "FILE", 0,
		  "Write a timeline, for ui.perfetto.dev and Chrome", 0 },
		{ "count", COUNT, "WHAT", 0,
		  "For --folded and --flame: count events, or time in system calls", 1 },
		{ "output", 'o', "FILE", 0, "Write there, not to standard output", 1 },
		{ "color", COLOR, "WHEN", 0, "Use colours: auto, always or never", 1 },
		{ "sysroot", SYSROOT, "DIR", 0,
		  "Find the files of the traced machine there", 2 },
		{ "kallsyms", KALLSYMS, "FILE", 0,
		  "Use this copy of the traced machine's /proc/kallsyms", 2 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = takes, .parser = parse, .args_doc = "DIR",
		.doc = "Show the LTTng traces below DIR, with the names of functions, "
		       "lines and inlined functions. For example:\n\n"
		       "  kunwind report --flame ls.html ls.trace\n",
	};
	struct options options = { .view.sink = "text" };

	kc_parse(&argp, argc, argv, 0, &options);
	return kc_show(options.folder, &options.view);
}

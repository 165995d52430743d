// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind report: show a trace that was recorded. */
#include <stddef.h>
#include "command.h"
#include "view.h"

enum key {
	DIFF = 1024,
};

struct options {
	const char *folder;
	const char *output;
	struct kc_view view;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->view;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case DIFF:
		options->view.before = arg;
		options->view.instead = KC_TOP;
		return 0;
	case ARGP_KEY_ARG:
		if (options->folder)
			return ARGP_ERR_UNKNOWN;
		options->folder = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->folder)
			argp_error(state, options->view.before ? "compare it with which trace?" :
								 "which trace?");
		options->view.form = options->view.form ?: options->view.instead;
		if (options->view.before && options->view.form != KC_TOP &&
		    options->view.form != KC_FLAME)
			argp_error(state, "--diff goes with --top and --flame");
		if (options->output && options->view.path)
			argp_error(state, "-o goes with what is printed; other forms name their own file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int kc_report(int argc, char **argv)
{
	static const struct argp_option takes[] = {
		{ "output", 'o', "FILE", 0,
		  "Write there, not to the standard output ('-')", 0 },
		{ "diff", DIFF, "BEFORE", 0,
		  "Show what became slower since the traces below BEFORE: functions, or flame graphs", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = {
		{ &kc_view_argp, 0, NULL, 0 }, { 0 },
	};
	static const struct argp argp = {
		.options = takes, .parser = parse, .args_doc = "DIR",
		.doc = "Show the LTTng traces below DIR, with the names of functions, "
		       "lines and inlined functions. For example:\n\n"
		       "  kunwind report --flame ls.html ls.trace\n"
		       "  kunwind report --diff old.trace new.trace\n",
		.children = children,
	};
	struct options options = { 0 };

	kc_parse(&argp, argc, argv, 0, &options);
	if (options.output)
		options.view.path = options.output;
	return kc_show(options.folder, &options.view);
}

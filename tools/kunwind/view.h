/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a trace is shown: the same options for one that is recorded and for one that was. */
#ifndef KC_VIEW_H
#define KC_VIEW_H

#include <argp.h>
#include <stdbool.h>

enum kc_form {
	/* KC_SUMMARY on a terminal, KC_FULL elsewhere */
	KC_DEFAULT,
	KC_SUMMARY,
	KC_TOP,
	KC_FULL,
	KC_RAW,
	KC_FOLDED,
	KC_FLAME,
	KC_PERFETTO,
	KC_PPROF,
	KC_SPEEDSCOPE,
	KC_UFTRACE,
	KC_NR_FORMS
};

/**
 * struct kc_view - how a trace is shown
 * @form: as what
 * @instead: what KC_DEFAULT is here; KC_DEFAULT: it depends on the output
 * @path: where to write, for KC_UFTRACE a folder; NULL and "-": to the standard output
 * @page: where to write flame graphs, too; with KC_TOP, or NULL
 * @before: traces below this folder are compared with; with KC_TOP and KC_FLAME, or NULL
 * @color: auto, always or never; or NULL
 * @count: events or time; or NULL
 * @filter: a regular expression; or NULL
 * @max_stack: frames; or NULL
 * @sysroot: see the filter; or NULL
 * @kallsyms: see the filter; or NULL
 * @paged: it is printed to a pager, which has the terminal
 */
struct kc_view {
	enum kc_form form;
	enum kc_form instead;
	const char *path;
	const char *page;
	const char *before;
	const char *color;
	const char *count;
	const char *filter;
	const char *max_stack;
	const char *sysroot;
	const char *kallsyms;
	bool paged;
};

/* The options, as a child of a subcommand's parser; its input is a struct kc_view. */
extern const struct argp kc_view_argp;

/* Return: whether the files are usable that the options name; if not, that was said. */
bool kc_view_possible(const struct kc_view *view);

/* Return: whether it is printed to the standard output while traces are read. */
bool kc_view_is_printed(const struct kc_view *view);

/* Show the traces below a folder. Return: a status. */
int kc_show(const char *folder, const struct kc_view *view);

#endif /* KC_VIEW_H */

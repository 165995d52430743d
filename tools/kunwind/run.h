/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A recording that is shown when it ends: what trace and profile share. */
#ifndef KC_RUN_H
#define KC_RUN_H

#include <argp.h>
#include <stdbool.h>
#include "record.h"
#include "view.h"

/**
 * struct kc_run - a recording, and how it is shown
 * @recording: what is recorded; its folder is NULL for one of our own choice
 * @view: how it is shown
 * @page: what the page of flame graphs beside a list of functions is called, in the
 *	  trace's folder; or NULL
 * @no_view: it is not shown
 */
struct kc_run {
	struct kc_recording recording;
	struct kc_view view;
	const char *page;
	bool no_view;
};

/* The options, as a child of a subcommand's parser; its input is a struct kc_run. */
extern const struct argp kc_run_argp;

/* Return: a number of seconds, the argument of an option; else the program ends. */
time_t kc_parse_seconds(struct argp_state *state, const char *option,
			const char *arg);

/* Record and show it; kc_session_possible() was true. Return: a status. */
int kc_run(struct kc_run *run);

#endif /* KC_RUN_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind trace: record, and show it. */
#include <glib.h>
#include "command.h"
#include "run.h"

enum key {
	OFF_CPU = 256,
	IO,
	SCHED,
	FAULTS,
};

/* Events that are asked for together. */
static const struct {
	enum key key;
	const char *events[12];
} sets[] = {
	{ IO, { "read", "write", "pread64", "pwrite64", "readv", "writev", "open*",
		"close", "f*sync", "sendfile64", "splice" } },
	{ SCHED, { "sched_switch", "sched_waking", "sched_process_fork",
		   "sched_process_exec", "sched_process_exit" } },
	{ FAULTS, { "x86_exceptions_page_fault_user" } },
};

struct options {
	GPtrArray *events;
	struct kc_run run;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct kc_rules *rules = &options->run.recording.rules;
	size_t i, j;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->run;
		return 0;
	case 'e':
		g_ptr_array_add(options->events, arg);
		return 0;
	case 'k':
		rules->kernel_stack = true;
		return 0;
	case OFF_CPU:
		rules->off_cpu = true;
		return 0;
	case IO:
	case SCHED:
	case FAULTS:
		for (i = 0; i < G_N_ELEMENTS(sets); i++)
			for (j = 0; sets[i].key == (enum key)key && sets[i].events[j]; j++)
				g_ptr_array_add(options->events, (char *)sets[i].events[j]);
		return 0;
	case ARGP_KEY_END:
		if (rules->off_cpu && options->events->len)
			argp_error(state, "--off-cpu records no other events");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int kc_trace(int argc, char **argv)
{
	static const struct argp_option takes[] = {
		{ "event", 'e', "EVENT", 0,
		  "Record this tracepoint or system call (default: all system calls). May be repeated; * matches any characters", 0 },
		{ "io", IO, NULL, 0, "Record system calls that read, write, open and close files", 0 },
		{ "sched", SCHED, NULL, 0, "Record the scheduler's events", 0 },
		{ "faults", FAULTS, NULL, 0, "Record page faults", 0 },
		{ "off-cpu", OFF_CPU, NULL, 0,
		  "Record where threads wait, for how long, and who woke them", 0 },
		{ "kernel-stack", 'k', NULL, 0, "Record the kernel's stacks, too", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = {
		{ &kc_run_argp, 0, NULL, 0 }, { 0 },
	};
	static const struct argp argp = {
		.options = takes, .parser = parse, .args_doc = "[--] [COMMAND [ARG...]]",
		.doc = "Record system calls or other events with LTTng, each with the call "
		       "stack that led to it, then show them. For example:\n\n"
		       "  kunwind trace -- ls -l /\n"
		       "  kunwind trace --off-cpu -- sleep 1\n"
		       "  kunwind trace -e sched:sched_switch -k --flame page.html -- make\n\n"
		       "This records a command and its children, or the process of "
		       "--pid. Without either, it records everything until Ctrl-C."
		       "\vThe exit status is that of COMMAND.",
		.children = children,
	};
	struct options options = { 0 };
	int status = KC_FAILED;

	options.events = g_ptr_array_new();
	/* What follows the command is the command's. */
	kc_parse(&argp, argc, argv, ARGP_IN_ORDER, &options);
	options.run.recording.rules.events = (char **)options.events->pdata;
	options.run.recording.rules.nr_events = options.events->len;
	if (kc_view_possible(&options.run.view) && kc_session_possible())
		status = kc_run(&options.run);
	g_ptr_array_unref(options.events);
	return status;
}

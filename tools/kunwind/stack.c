// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind stack: the stacks of threads that run, without stopping them. Without an argument
 * it prints its own, which shows whether module, device, library and symbols work.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "chosen.h"
#include "command.h"
#include "frames.h"
#include "module.h"
#include "notes.h"
#include "threads.h"

/* As many as the module gives for another thread. */
#define CAPACITY	KUNWIND_MAX_FRAMES

struct options {
	struct kc_chosen chosen;
	bool json;
	bool kernel;
	bool watch;
	unsigned int interval;
};

static bool asks_for_others(const struct options *o)
{
	return o->chosen.all || o->chosen.name || o->chosen.nr_ids;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *end;
	long seconds;

	switch (key) {
	case 'a':
		o->chosen.all = true;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case 'k':
		o->kernel = true;
		return 0;
	case 'n':
		o->chosen.name = arg;
		return 0;
	case 'w':
		o->watch = true;
		if (!arg)
			return 0;
		seconds = strtol(arg, &end, 10);
		if (*end || seconds < 1 || seconds > 86400)
			argp_error(state, "--watch takes seconds, 1 to 86400: %s", arg);
		o->interval = seconds;
		return 0;
	case ARGP_KEY_ARG:
		if (!kc_number_of(arg))
			argp_error(state, "'%s' is no PID or TID; -n takes names", arg);
		o->chosen.ids = &state->argv[state->next - 1];
		o->chosen.nr_ids = state->argc - state->next + 1;
		for (size_t i = 1; i < o->chosen.nr_ids; i++)
			if (!kc_number_of(o->chosen.ids[i]))
				argp_error(state, "'%s' is no PID or TID", o->chosen.ids[i]);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if ((o->kernel || o->watch) && !asks_for_others(o))
			argp_error(state, "--%s needs a PID, a TID, -n or -a",
				   o->kernel ? "kernel" : "watch");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option takes[] = {
	{ "all", 'a', NULL, 0, "Show all processes that you may trace", 0 },
	{ "name", 'n', "NAME", 0, "Show the processes of that name", 0 },
	{ "kernel", 'k', NULL, 0, "Show the kernel's part of the stack, too; needs root", 0 },
	{ "watch", 'w', "SECONDS", OPTION_ARG_OPTIONAL,
	  "Show the stacks again and again, every 2 seconds", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = takes,
	.parser = parse,
	.args_doc = "[PID|TID...]",
	.doc = "Print the user call stacks of threads, with names. The threads are not stopped, "
	       "and notice nothing. A PID stands for all threads of the process. Without an "
	       "argument, print the stack of this command itself, to see whether kunwind works."
	       "\vYou may see the processes that you may trace (ptrace(2)). The exit status is 0 "
	       "if everything that was asked for was shown.",
};

/* Without a build ID, their inodes say that these are the files that are mapped. */
static void say_notes(struct kr_notes *notes)
{
	kr_notes_forget(notes, KR_UNCHECKED);
	kr_notes_say(notes, NULL, -1);
}

static int run_round(const struct options *options, struct kc_threads *threads)
{
	int status;

	kc_maps_begin();
	/* A file may have been written anew since the last round. */
	threads->modules = kr_modules_new(NULL, false, -1, threads->notes);
	threads->shown = 0;
	threads->failed = threads->kernel_refused = false;
	threads->processes = options->json ? json_array() : NULL;
	kc_chosen_show(&options->chosen, threads);
	if (threads->kernel_refused)
		kc_error("run it as root: sudo kunwind stack -k",
			 "the kernel's part of stacks is missing: only root sees it");
	status = threads->failed || threads->kernel_refused ? KC_FAILED : 0;
	if (threads->processes)
		status = kc_print_json(threads->processes) ?: status;
	kr_modules_free(threads->modules);
	say_notes(threads->notes);
	return status;
}

/* Ctrl-C ends --watch when the round is shown. */
static volatile sig_atomic_t is_ended;

static void end_soon(int number)
{
	(void)number;
	is_ended = true;
}

static const struct sigaction ending = { .sa_handler = end_soon };

/* The signals are blocked from the test on, or one that came before the wait would not end it. */
static void wait_for_next_round(unsigned int seconds)
{
	const struct timespec interval = { .tv_sec = seconds };
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &before);
	if (!is_ended)
		ppoll(NULL, 0, &interval, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int show_others(const struct options *options, struct kunwind_handle *handle,
		       struct kunwind_bt *bt)
{
	struct kc_threads threads = { .handle = handle, .bt = bt, .kernel = options->kernel };
	int status;

	threads.notes = kr_notes_new();
	if (options->watch) {
		sigaction(SIGINT, &ending, NULL);
		sigaction(SIGTERM, &ending, NULL);
	}
	status = run_round(options, &threads);
	while (options->watch && !is_ended && !fflush(stdout)) {
		wait_for_next_round(options->interval);
		if (is_ended)
			break;
		/* Home, and clear: only on a terminal. */
		if (isatty(STDOUT_FILENO) && !options->json)
			fputs("\033[H\033[2J", stdout);
		status = run_round(options, &threads);
	}
	kr_notes_free(threads.notes);
	return status;
}

/* Its own stack. */
static int show_own(struct kunwind_handle *handle, struct kunwind_bt *bt, bool as_json)
{
	struct kr_notes *notes = kr_notes_new();
	struct kr_modules *modules = kr_modules_new(NULL, false, -1, notes);
	struct kc_maps *maps = kc_maps_new(getpid(), "", modules);
	int ret = maps ? kunwind_backtrace(handle, bt) : -ENOMEM, status;
	uint32_t stop = kunwind_backtrace_stop(bt);
	json_t *json;

	status = stop == KUNWIND_STOP_COMPLETE ? 0 : KC_FAILED;
	if (ret < 0) {
		kc_error(NULL, "cannot take the stack: %s", strerror(-ret));
	} else if (as_json) {
		json = json_object();
		json_object_set_new(json, "frames", kc_frames_json(bt, maps));
		json_object_set_new(json, "proven",
				    json_integer(kunwind_backtrace_proven(bt)));
		json_object_set_new(json, "stop", json_string(kunwind_stop_name(stop)));
		status = kc_print_json(json) ?: status;
	} else {
		kc_frames_print(bt, maps);
		printf("%" PRIu32 " frames, %" PRIu32 " of them proven; %s: %s\n",
		       kunwind_backtrace_count(bt), kunwind_backtrace_proven(bt),
		       kunwind_stop_name(stop), kunwind_stop_text(stop));
	}
	say_notes(notes);
	kc_maps_free(maps);
	kr_modules_free(modules);
	kr_notes_free(notes);
	return status;
}

static void say_not_opened(int err)
{
	static const char next[] = "kunwind status looks at all that stacks need";

	switch (err) {
	case EACCES:
		kc_error("its mode must be 0666: ls -l /dev/kunwind",
			 "/dev/kunwind: %s", strerror(err));
		break;
	case EOPNOTSUPP:
		kc_error(next, "/dev/kunwind: this kernel lacks a function that the module must "
			 "hook, or its sysctl kernel.ftrace_enabled is 0");
		break;
	case EPROTO:
		kc_error(next, "/dev/kunwind: the module has another version than this command");
		break;
	default:
		kc_error(next, "/dev/kunwind: %s", strerror(err));
	}
}

int kc_stack(int argc, char **argv)
{
	struct options options = { .interval = 2 };
	struct kunwind_handle *handle;
	struct kunwind_bt *bt;
	int ret, status;

	kc_parse(&argp, argc, argv, 0, &options);
	if (!kc_module_is_loaded())
		return KC_FAILED;
	ret = kunwind_open(&handle);
	if (ret < 0) {
		say_not_opened(-ret);
		return KC_FAILED;
	}
	bt = kunwind_backtrace_new(CAPACITY);
	if (!bt) {
		kc_error(NULL, "%s", strerror(errno));
		kunwind_close(handle);
		return KC_FAILED;
	}
	if (asks_for_others(&options))
		status = show_others(&options, handle, bt);
	else
		status = show_own(handle, bt, options.json);
	kunwind_backtrace_free(bt);
	kunwind_close(handle);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind stack: the stacks of threads that run, without stopping them. Without an argument
 * it prints its own, which shows whether module, device, library and symbols work.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "frames.h"
#include "module.h"
#include "notes.h"
#include "proc.h"
#include "threads.h"

/* As many as the module gives for another thread. */
#define CAPACITY	KUNWIND_MAX_FRAMES

struct options {
	bool all;
	bool json;
	bool kernel;
	bool watch;
	unsigned int interval;
	const char *name;
	/* PIDs and TIDs, as the user gave them. */
	char **ids;
	size_t nr_ids;
};

/*
 * One round. Made and used by show_others().
 * @refused: processes that this user may not trace
 * @failed: something that was asked for by its number is not there
 */
struct round {
	const struct options *options;
	struct kc_threads threads;
	size_t refused;
	bool failed;
};

/* Return: the PID or TID that @text is; 0 if it is none. */
static pid_t number_of(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && number <= INT_MAX ? number : 0;
}

static bool asks_for_others(const struct options *o)
{
	return o->all || o->name || o->nr_ids;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *end;
	long seconds;

	switch (key) {
	case 'a':
		o->all = true;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case 'k':
		o->kernel = true;
		return 0;
	case 'n':
		o->name = arg;
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
		if (!number_of(arg))
			argp_error(state, "'%s' is no PID or TID; -n takes names", arg);
		o->ids = &state->argv[state->next - 1];
		o->nr_ids = state->argc - state->next + 1;
		for (size_t i = 1; i < o->nr_ids; i++)
			if (!number_of(o->ids[i]))
				argp_error(state, "'%s' is no PID or TID", o->ids[i]);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (o->kernel && !asks_for_others(o))
			argp_error(state, "--kernel needs a PID, a TID, -n or -a");
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

/* Return: the process that @id is or belongs to; 0 if there is none. */
static pid_t process_of(pid_t id)
{
	char path[64], line[256];
	pid_t pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", id);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (file)
		fclose(file);
	return pid;
}

/* Show what the user gave the number of. */
static void show_id(struct round *r, pid_t id)
{
	pid_t pid = process_of(id);
	int ret = pid ? kc_threads_show(&r->threads, pid, pid == id ? 0 : id) : -ESRCH;

	if (!ret)
		return;
	r->failed = true;
	switch (ret) {
	case -ESRCH:
		kc_error("ps -eL lists processes and threads",
			 "there is no process or thread %d, or it is the kernel's", id);
		break;
	case -EPERM:
	case -EACCES:
		kc_error("sudo kunwind stack shows all processes",
			 "you may not trace process %d", pid);
		break;
	default:
		kc_error(NULL, "process %d: %s", pid, strerror(-ret));
	}
}

/* Whether @pid is a process of the name: its own, or that of its file. */
static bool has_name(pid_t pid, const char *name)
{
	char text[4096], path[64];
	const char *base;
	ssize_t length;

	if (!strcmp(kc_proc_line(pid, pid, "comm", text, sizeof(text)), name))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	base = strrchr(text, '/');
	return !strcmp(base ? base + 1 : text, name);
}

/* Show all processes, or those of a name. */
static void show_many(struct round *r)
{
	const char *name = r->options->name;
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);
		int ret;

		if (pid <= 0 || pid == getpid() || (name && !has_name(pid, name)))
			continue;
		found = true;
		ret = kc_threads_show(&r->threads, pid, 0);
		if (ret == -EPERM || ret == -EACCES) {
			r->refused++;
		} else if (ret && ret != -ESRCH) {
			r->failed = true;
			kc_error(NULL, "process %d: %s", pid, strerror(-ret));
		}
	}
	if (dir)
		closedir(dir);
	if (name && !found) {
		r->failed = true;
		kc_error("pgrep -l . lists names", "there is no process %s", name);
	}
	if (r->refused)
		kc_error("sudo kunwind stack shows all processes",
			 "%zu processes are not shown: you may not trace them", r->refused);
	/* With --all, only those that may be traced are asked for. */
	if (name && (r->refused || !r->threads.shown))
		r->failed = true;
}

/* Without a build ID, their inodes say that these are the files that are mapped. */
static void say_notes(struct kr_notes *notes)
{
	kr_notes_forget(notes, KR_UNCHECKED);
	kr_notes_say(notes, NULL, -1);
}

static int run_round(struct round *r)
{
	int status;
	size_t i;

	kc_maps_begin();
	/* A file may have been written anew since the last round. */
	r->threads.modules = kr_modules_new(NULL, false, -1, r->threads.notes);
	r->threads.shown = 0;
	r->refused = 0;
	r->failed = r->threads.failed = r->threads.kernel_refused = false;
	r->threads.processes = r->options->json ? json_array() : NULL;
	if (r->options->all || r->options->name)
		show_many(r);
	for (i = 0; i < r->options->nr_ids; i++)
		show_id(r, number_of(r->options->ids[i]));
	if (r->threads.kernel_refused) {
		r->failed = true;
		kc_error("run it as root: sudo kunwind stack -k",
			 "the kernel's part of stacks is missing: only root sees it");
	}
	status = r->failed || r->threads.failed ? KC_FAILED : 0;
	if (r->threads.processes)
		status = kc_print_json(r->threads.processes) ?: status;
	kr_modules_free(r->threads.modules);
	say_notes(r->threads.notes);
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
	struct round r = {
		.options = options,
		.threads = { .handle = handle, .bt = bt, .kernel = options->kernel },
	};
	int status;

	r.threads.notes = kr_notes_new();
	if (options->watch) {
		sigaction(SIGINT, &ending, NULL);
		sigaction(SIGTERM, &ending, NULL);
	}
	status = run_round(&r);
	while (options->watch && !is_ended && !fflush(stdout)) {
		wait_for_next_round(options->interval);
		if (is_ended)
			break;
		/* Home, and clear: only on a terminal. */
		if (isatty(STDOUT_FILENO) && !options->json)
			fputs("\033[H\033[2J", stdout);
		status = run_round(&r);
	}
	kr_notes_free(r.threads.notes);
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

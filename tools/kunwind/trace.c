// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind trace: record, and show it. */
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
#include "record.h"
#include "session.h"
#include "view.h"

#define KALLSYMS	"/proc/kallsyms"

enum key {
	NO_VIEW = 256,
	OFF_CPU,
	DURATION,
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
	bool no_view;
	struct kc_recording recording;
	struct kc_view view;
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

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char *end;
	size_t i, j;
	long pid;
	int fd;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->view;
		return 0;
	case 'e':
		g_ptr_array_add(options->events, arg);
		return 0;
	case 'o':
		options->recording.folder = arg;
		return 0;
	case 'p':
		pid = strtol(arg, &end, 10);
		fd = *end || pid <= 0 || pid > INT_MAX ? -1 :
		     (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (fd < 0)
			argp_error(state, "there is no process %s", arg);
		if (options->recording.pidfd >= 0)
			close(options->recording.pidfd);
		options->recording.pidfd = fd;
		options->recording.pid = (pid_t)pid;
		return 0;
	case 'k':
		options->recording.rules.kernel_stack = true;
		return 0;
	case NO_VIEW:
		options->no_view = true;
		return 0;
	case OFF_CPU:
		options->recording.rules.off_cpu = true;
		return 0;
	case IO:
	case SCHED:
	case FAULTS:
		for (i = 0; i < G_N_ELEMENTS(sets); i++)
			for (j = 0; sets[i].key == (enum key)key && sets[i].events[j]; j++)
				g_ptr_array_add(options->events, (char *)sets[i].events[j]);
		return 0;
	case 'm':
		options->recording.rules.buffer_bytes = parse_size(arg);
		if (!options->recording.rules.buffer_bytes)
			argp_error(state, "-m is a size, such as 64M, of 64 KiB to 2 GiB");
		return 0;
	case DURATION:
		options->recording.duration = strtol(arg, &end, 10);
		if (*end || options->recording.duration <= 0 ||
		    options->recording.duration > INT_MAX)
			argp_error(state, "--duration is a number of seconds");
		return 0;
	case ARGP_KEY_END:
		if (options->recording.rules.off_cpu && options->events->len)
			argp_error(state, "--off-cpu records no other events");
		return 0;
	case ARGP_KEY_ARGS:
		options->recording.command = state->argv + state->next;
		if (options->recording.pid)
			argp_error(state, "either a process or a command");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *default_folder(void)
{
	char name[64];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(name, sizeof(name), "kunwind-%Y%m%d-%H%M%S", &tm);
	/* As in the guest of ./run.sh shell, whose repository is read-only. */
	return access(".", W_OK) ? g_build_filename(g_get_tmp_dir(), name, NULL) :
				   g_strdup(name);
}

/*
 * LTTng would do it, and say less when it cannot. The trace has stacks of other users, and
 * /tmp is anybody's: nobody else may read the folder, or have made it.
 */
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

int kc_trace(int argc, char **argv)
{
	static const struct argp_option takes[] = {
		{ "event", 'e', "EVENT", 0,
		  "Record this tracepoint or system call (default: all system calls). May be repeated; * matches any characters", 0 },
		{ "output", 'o', "DIR", 0,
		  "Put the trace there (default: kunwind-DATE-TIME here, or in /tmp if nothing can be written here)", 0 },
		{ "io", IO, NULL, 0, "Record system calls that read, write, open and close files", 0 },
		{ "sched", SCHED, NULL, 0, "Record the scheduler's events", 0 },
		{ "faults", FAULTS, NULL, 0, "Record page faults", 0 },
		{ "off-cpu", OFF_CPU, NULL, 0,
		  "Record where threads wait, for how long, and who woke them", 0 },
		{ "pid", 'p', "PID", 0,
		  "Record a process that already runs, and its children, until it ends", 0 },
		{ "duration", DURATION, "SECONDS", 0, "Record for so long", 0 },
		{ "buffer", 'm', "SIZE", 0,
		  "Record into buffers of SIZE for each CPU, such as 64M", 0 },
		{ "kernel-stack", 'k', NULL, 0, "Record the kernel's stacks, too", 0 },
		{ "no-view", NO_VIEW, NULL, 0, "Record only", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = {
		{ &kc_view_argp, 0, NULL, 0 }, { 0 },
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
	struct options options = { .recording.pidfd = -1 };
	struct kc_recording *recording = &options.recording;
	char *absolute, *own = NULL;
	int status = KC_FAILED, shown;

	options.events = g_ptr_array_new();
	/* What follows the command is the command's. */
	kc_parse(&argp, argc, argv, ARGP_IN_ORDER, &options);
	if (!recording->folder)
		recording->folder = own = default_folder();
	absolute = g_canonicalize_filename(recording->folder, NULL);
	recording->folder = absolute;
	recording->rules.events = (char **)options.events->pdata;
	recording->rules.nr_events = options.events->len;
	recording->gives_way = !options.no_view && is_printed(&options.view) &&
			       !isatty(STDOUT_FILENO);
	if (!kc_view_possible(&options.view)) {
		status = KC_FAILED;
	} else if (g_file_test(absolute, G_FILE_TEST_EXISTS)) {
		kc_error("choose another folder", "%s exists", absolute);
	} else if (kc_session_possible() && make_folder(absolute)) {
		(void)kc_session_leftovers(false);
		status = kc_record(recording);
		/* It is empty if there was no session. */
		if (rmdir(absolute) && errno != ENOENT) {
			if (recording->rules.kernel_stack)
				copy_kallsyms(absolute);
			if (!options.no_view && !recording->failed) {
				shown = kc_show(absolute, &options.view);
				status = status ?: shown;
			}
			if (own)
				fprintf(stderr, "kunwind: the trace is in %s; kunwind report shows it again\n",
					absolute);
		}
	}
	g_ptr_array_unref(options.events);
	g_free(absolute);
	g_free(own);
	return status;
}

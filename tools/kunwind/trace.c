// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind trace: record a command and its children, a process, or everything, and
 * show it.
 *
 * How "and its children, and nothing else" is done: LTTng's process tracker does
 * not follow forks. So the command gets a UTS namespace of its own: every child is
 * in it, and nothing looks different inside. LTTng's context uts_ns filters in the
 * kernel. Who may not make a namespace gets the process alone, and is told so.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "session.h"
#include "view.h"

#define LAUNCHER	"kunwind-launch"
#define KALLSYMS	"/proc/kallsyms"

/* Less is a full disk, in bytes. */
#define LEAST_ROOM	(1 << 20)

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
	const char *folder;
	pid_t pid;
	int pidfd;
	bool kernel_stack;
	bool no_view;
	bool off_cpu;
	uint64_t buffer_bytes;
	time_t duration;
	char **command;
	struct kc_view view;
};

/*
 * While there is a session a signal must not end this program, or the session would
 * go on for ever: signals wait until they are asked for. SIGPIPE comes of a child
 * that is gone before it could be told to go on.
 */
static sigset_t held, before;

static void hold_signals(void)
{
	static const int numbers[] = {
		SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD,
	};
	struct sigaction action;
	size_t i;

	/* Who ignores it is not told of a child's end. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&held);
	for (i = 0; i < G_N_ELEMENTS(numbers); i++) {
		/* nohup: held, it would come all the same. */
		if (numbers[i] != SIGPIPE && !sigaction(numbers[i], NULL, &action) &&
		    action.sa_handler == SIG_IGN)
			continue;
		sigaddset(&held, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &held, &before);
}

/* What came meanwhile was for the recording, which is over. */
static void release_signals(void)
{
	const struct timespec none = { 0 };

	while (sigtimedwait(&held, NULL, &none) > 0)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The child that becomes the command: what it said, and how to let it go on. */
struct child {
	pid_t pid;
	int go;
	bool has_namespace;
};

/*
 * If the view is printed to a file or a pipe, the command's output is not: it goes where
 * errors go.
 */
static void give_way(const struct options *options)
{
	if (!options->no_view && !isatty(STDOUT_FILENO) &&
	    (!options->view.path || !strcmp(options->view.path, "-")))
		dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void become(const char *path, const struct options *options, int said, int go)
{
	char *const *command = options->command;
	char namespace, byte;

	sigprocmask(SIG_SETMASK, &before, NULL);
	prctl(PR_SET_NAME, LAUNCHER);
	namespace = unshare(CLONE_NEWUTS) ? 0 : 1;
	/* Without a parent there is nothing to do. */
	if (write(said, &namespace, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(KC_FAILED);
	give_way(options);
	execv(path, command);
	fprintf(stderr, "kunwind: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static bool fork_child(struct child *child, const char *path,
		       const struct options *options)
{
	int said[2], go[2];
	char namespace;

	if (pipe2(said, O_CLOEXEC) || pipe2(go, O_CLOEXEC)) {
		kc_error(NULL, "pipe: %s", strerror(errno));
		return false;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		become(path, options, said[1], go[0]);
	}
	close(said[1]);
	close(go[0]);
	child->go = go[1];
	if (child->pid < 0 || read(said[0], &namespace, 1) != 1) {
		kc_error(NULL, "fork: %s", strerror(errno));
		close(said[0]);
		return false;
	}
	child->has_namespace = namespace;
	close(said[0]);
	return true;
}

/* Return: 0 if it cannot be read. */
static uint64_t namespace_of(pid_t pid)
{
	char *path = g_strdup_printf("/proc/%d/ns/uts", (int)pid);
	struct stat st = { 0 };

	(void)stat(path, &st);
	g_free(path);
	return st.st_ino;
}

/**
 * struct watch - a recording that goes on
 * @session: its session; NULL once it has ended
 * @until: when it ends, in seconds of CLOCK_MONOTONIC; 0: not by itself
 * @next: when losses are looked for
 * @warned: they were found
 */
struct watch {
	struct kc_session *session;
	time_t until;
	time_t next;
	bool warned;
};

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Return: whether the time is over. */
static bool look(struct watch *watch)
{
	if (watch->session && !watch->warned && now() >= watch->next) {
		watch->next = now() + 2;
		watch->warned = kc_session_lost(watch->session) > 0;
		if (watch->warned)
			kc_error("more than the disk takes is recorded; -m makes the buffers larger",
				 "events are being lost");
	}
	return watch->until && now() >= watch->until;
}

/* What was lost, and what did not fit, is part of the result. Return: a status. */
static int end_watch(struct watch *watch, const char *folder)
{
	struct kc_session *session = watch->session;
	uint64_t lost = kc_session_stop(session) ? kc_session_lost(session) : 0;
	uint64_t kib = kc_session_buffer(session) >> 10;
	struct statvfs disk;

	watch->session = NULL;
	kc_session_end(session);
	if (lost) {
		char *next = g_strdup_printf("-m %" PRIu64 "K makes the buffers twice as large",
					     2 * kib);

		kc_error(next, "%" PRIu64 " events were lost: the buffers of %" PRIu64 " KiB for each CPU were full",
			 lost, kib);
		g_free(next);
	}
	if (statvfs(folder, &disk) || disk.f_bavail * disk.f_frsize >= LEAST_ROOM)
		return 0;
	kc_error("-o DIR puts the trace elsewhere", "%s: the disk is full, so the trace is not whole",
		 folder);
	return KC_FAILED;
}

/* A terminal's Ctrl-C is sent to the command, too; other signals to this program. */
static int status_of(pid_t pid, struct watch *watch, const char *folder)
{
	const struct timespec second = { .tv_sec = 1 };
	int status, number;
	pid_t ended;

	while (!(ended = waitpid(pid, &status, WNOHANG))) {
		number = sigtimedwait(&held, NULL, &second);
		if (number == SIGTERM || number == SIGHUP)
			kill(pid, number);
		if (look(watch) && watch->session) {
			fputs("kunwind: the recording is over; the command goes on\n", stderr);
			(void)end_watch(watch, folder);
		}
	}
	if (ended < 0)
		return KC_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   KC_SIGNALLED(WTERMSIG(status));
}

/* Wait for Ctrl-C, or for the end of a process, be it waited for by its parent or not. */
static void wait_for_end(int pidfd, struct watch *watch)
{
	const struct timespec while_ = { .tv_nsec = 200000000 };
	struct pollfd process = { .fd = pidfd, .events = POLLIN };
	int number;

	fputs("kunwind: recording; Ctrl-C ends it\n", stderr);
	do {
		number = sigtimedwait(&held, NULL, &while_);
		if (poll(&process, 1, 0) > 0 || look(watch))
			return;
	} while (number < 0 || number == SIGCHLD || number == SIGPIPE);
}

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

/* @watch->session: NULL if nothing is recorded, and that was said */
static void begin_watch(struct watch *watch, const struct options *options,
			const struct kc_rules *rules)
{
	watch->session = kc_session_create(options->folder, rules);
	if (watch->session && !kc_session_start(watch->session)) {
		kc_session_end(watch->session);
		watch->session = NULL;
	}
	if (options->duration)
		watch->until = now() + options->duration;
	watch->next = now() + 2;
}

static int record_command(struct options *options, struct kc_rules *rules)
{
	char *within = NULL, *filter = NULL;
	struct watch watch = { 0 };
	struct child child;
	int status = KC_FAILED, ended;
	char *path;

	/* Not by execvp(), whose attempts would be in the trace. */
	path = g_find_program_in_path(options->command[0]);
	if (!path) {
		bool there = strchr(options->command[0], '/') &&
			     !access(options->command[0], F_OK);

		kc_error(NULL, "%s: %s", options->command[0],
			 there ? "it cannot be executed" : "command not found");
		options->no_view = true;
		return there ? 126 : 127;
	}
	hold_signals();
	if (!fork_child(&child, path, options)) {
		release_signals();
		g_free(path);
		return KC_FAILED;
	}
	if (child.has_namespace) {
		within = g_strdup_printf("$ctx.uts_ns == %" PRIu64,
					 namespace_of(child.pid));
	} else {
		kc_error("sudo kunwind trace traces them, too",
			 "without root, kunwind traces %s, but not its children",
			 options->command[0]);
		within = g_strdup_printf("$ctx.pid == %d", (int)child.pid);
	}
	filter = g_strdup_printf("%s && $ctx.procname != \"" LAUNCHER "\"", within);
	rules->filter = filter;
	rules->execve_filter = within;
	begin_watch(&watch, options, rules);
	if (watch.session) {
		/* Ctrl-C is for the command; what it did is shown all the same. */
		/* It may be gone: then its status says why. */
		(void)!write(child.go, "", 1);
		close(child.go);
		status = status_of(child.pid, &watch, options->folder);
		ended = watch.session ? end_watch(&watch, options->folder) : 0;
		status = status ?: ended;
	} else {
		close(child.go);
		(void)status_of(child.pid, &watch, NULL);
		options->no_view = true;
	}
	release_signals();
	g_free(within);
	g_free(filter);
	g_free(path);
	return status;
}

static int record_others(struct options *options, struct kc_rules *rules)
{
	struct watch watch = { 0 };
	char *filter = NULL;
	int status = KC_FAILED;

	/* From here on Ctrl-C ends the recording, whenever it comes. */
	hold_signals();
	if (options->pid)
		filter = g_strdup_printf("$ctx.pid == %d || $ctx.ppid == %d",
					 (int)options->pid, (int)options->pid);
	rules->filter = filter;
	begin_watch(&watch, options, rules);
	if (watch.session) {
		wait_for_end(options->pidfd, &watch);
		status = end_watch(&watch, options->folder);
	} else {
		options->no_view = true;
	}
	release_signals();
	g_free(filter);
	return status;
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
		options->folder = arg;
		return 0;
	case 'p':
		pid = strtol(arg, &end, 10);
		fd = *end || pid <= 0 || pid > INT_MAX ? -1 :
		     (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (fd < 0)
			argp_error(state, "there is no process %s", arg);
		if (options->pidfd >= 0)
			close(options->pidfd);
		options->pidfd = fd;
		options->pid = (pid_t)pid;
		return 0;
	case 'k':
		options->kernel_stack = true;
		return 0;
	case NO_VIEW:
		options->no_view = true;
		return 0;
	case OFF_CPU:
		options->off_cpu = true;
		return 0;
	case IO:
	case SCHED:
	case FAULTS:
		for (i = 0; i < G_N_ELEMENTS(sets); i++)
			for (j = 0; sets[i].key == (enum key)key && sets[i].events[j]; j++)
				g_ptr_array_add(options->events, (char *)sets[i].events[j]);
		return 0;
	case 'm':
		options->buffer_bytes = parse_size(arg);
		if (!options->buffer_bytes)
			argp_error(state, "-m is a size, such as 64M, of 64 KiB to 2 GiB");
		return 0;
	case DURATION:
		options->duration = strtol(arg, &end, 10);
		if (*end || options->duration <= 0)
			argp_error(state, "--duration is a number of seconds");
		return 0;
	case ARGP_KEY_END:
		if (options->off_cpu && options->events->len)
			argp_error(state, "--off-cpu records no other events");
		return 0;
	case ARGP_KEY_ARGS:
		options->command = state->argv + state->next;
		if (options->pid)
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

/* LTTng would do it, and say less when it cannot. */
static bool make_folder(const char *folder)
{
	if (!g_mkdir_with_parents(folder, 0777))
		return true;
	kc_error("-o DIR puts the trace elsewhere", "%s: %s", folder, strerror(errno));
	return false;
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
	struct options options = { .pidfd = -1 };
	struct kc_rules rules = { 0 };
	char *absolute, *own = NULL;
	int status = KC_FAILED, shown;

	options.events = g_ptr_array_new();
	/* What follows the command is the command's. */
	kc_parse(&argp, argc, argv, ARGP_IN_ORDER, &options);
	if (!options.folder)
		options.folder = own = default_folder();
	absolute = g_canonicalize_filename(options.folder, NULL);
	options.folder = absolute;
	rules.events = (char **)options.events->pdata;
	rules.nr_events = options.events->len;
	rules.kernel_stack = options.kernel_stack;
	rules.off_cpu = options.off_cpu;
	rules.buffer_bytes = options.buffer_bytes;
	if (!kc_view_possible(&options.view)) {
		status = KC_FAILED;
	} else if (g_file_test(absolute, G_FILE_TEST_EXISTS)) {
		kc_error("choose another folder", "%s exists", absolute);
	} else if (kc_session_possible() && make_folder(absolute)) {
		(void)kc_session_leftovers(false);
		status = options.command ? record_command(&options, &rules) :
					   record_others(&options, &rules);
		/* It is empty if there was no session. */
		if (rmdir(absolute) && errno != ENOENT) {
			if (options.kernel_stack)
				copy_kallsyms(absolute);
			if (!options.no_view) {
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

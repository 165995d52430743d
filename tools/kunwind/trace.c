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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "session.h"
#include "view.h"

#define LAUNCHER	"kunwind-launch"
#define KALLSYMS	"/proc/kallsyms"

enum key {
	NO_VIEW = 256,
};

struct options {
	GPtrArray *events;
	const char *folder;
	pid_t pid;
	int pidfd;
	bool kernel_stack;
	bool no_view;
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

static void become(const char *path, char **command, int said, int go)
{
	char namespace, byte;

	sigprocmask(SIG_SETMASK, &before, NULL);
	prctl(PR_SET_NAME, LAUNCHER);
	namespace = unshare(CLONE_NEWUTS) ? 0 : 1;
	/* Without a parent there is nothing to do. */
	if (write(said, &namespace, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(KC_FAILED);
	execv(path, command);
	fprintf(stderr, "kunwind: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static bool fork_child(struct child *child, const char *path, char **command)
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
		become(path, command, said[1], go[0]);
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

/* A terminal's Ctrl-C is sent to the command, too; other signals to this program. */
static int status_of(pid_t pid)
{
	int status, number;
	pid_t ended;

	while (!(ended = waitpid(pid, &status, WNOHANG))) {
		number = sigwaitinfo(&held, NULL);
		if (number == SIGTERM || number == SIGHUP)
			kill(pid, number);
	}
	if (ended < 0)
		return KC_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   KC_SIGNALLED(WTERMSIG(status));
}

/* Wait for Ctrl-C, or for the end of a process, be it waited for by its parent or not. */
static void wait_for_end(int pidfd)
{
	const struct timespec while_ = { .tv_nsec = 200000000 };
	struct pollfd process = { .fd = pidfd, .events = POLLIN };
	int number;

	fputs("kunwind: recording; Ctrl-C ends it\n", stderr);
	do {
		number = sigtimedwait(&held, NULL, &while_);
		if (poll(&process, 1, 0) > 0)
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

static int record_command(struct options *options, struct kc_rules *rules)
{
	char *within = NULL, *filter = NULL;
	struct kc_session *session = NULL;
	struct child child;
	int status = KC_FAILED;
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
	if (!fork_child(&child, path, options->command)) {
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
	session = kc_session_create(options->folder, rules);
	if (session && kc_session_start(session)) {
		/* Ctrl-C is for the command; what it did is shown all the same. */
		/* It may be gone: then its status says why. */
		(void)!write(child.go, "", 1);
		close(child.go);
		status = status_of(child.pid);
	} else {
		close(child.go);
		(void)status_of(child.pid);
		options->no_view = true;
	}
	kc_session_end(session);
	release_signals();
	g_free(within);
	g_free(filter);
	g_free(path);
	return status;
}

static int record_others(struct options *options, struct kc_rules *rules)
{
	struct kc_session *session;
	char *filter = NULL;
	int status = KC_FAILED;

	/* From here on Ctrl-C ends the recording, whenever it comes. */
	hold_signals();
	/* What shows the trace, and LTTng itself, would be most of it. */
	filter = options->pid ?
		 g_strdup_printf("$ctx.pid == %d", (int)options->pid) :
		 g_strdup_printf("$ctx.pid != %d", (int)getpid());
	rules->filter = filter;
	session = kc_session_create(options->folder, rules);
	if (session && kc_session_start(session)) {
		wait_for_end(options->pidfd);
		status = 0;
	} else {
		options->no_view = true;
	}
	kc_session_end(session);
	release_signals();
	g_free(filter);
	return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char *end;
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
	return g_strdup(name);
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
		  "Put the trace there (default: kunwind-DATE-TIME here)", 0 },
		{ "pid", 'p', "PID", 0, "Record a process that already runs, until it ends", 0 },
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
		       "  kunwind trace -e sched_switch -k sleep 1\n\n"
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
	if (!kc_view_possible(&options.view)) {
		status = KC_FAILED;
	} else if (g_file_test(absolute, G_FILE_TEST_EXISTS)) {
		kc_error("choose another folder", "%s exists", absolute);
	} else if (kc_session_possible() && make_folder(absolute)) {
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
			fprintf(stderr, "kunwind: the trace is in %s; kunwind report shows it again\n",
				absolute);
		}
	}
	g_ptr_array_unref(options.events);
	g_free(absolute);
	g_free(own);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Recording a command and its children, a process, or everything.
 *
 * LTTng's process tracker does not follow forks. So the command gets a UTS namespace and
 * a time namespace of its own. Nothing looks different in them, and each child is in
 * both. A child can leave one: container runtimes make a new UTS namespace. LTTng's
 * contexts uts_ns and time_ns filter in the kernel. A user who may not make a namespace
 * gets the process alone, and is told so.
 *
 * A process that runs already keeps its namespaces. The filter names it and all its
 * descendants, also as parents. A grandchild that begins later is not recorded, as its
 * parent is not named.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "control.h"
#include "family.h"
#include "proc.h"
#include "record.h"

#define LAUNCHER	"kunwind-launch"

/* LTTng takes filters of 64 KiB. */
#define MAX_NAMED	1000

/* Less is a full disk, in bytes. */
#define LEAST_ROOM	(1 << 20)

/*
 * While there is a session a signal must not end this program, or the session would
 * go on for ever: signals wait until they are asked for.
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

/**
 * struct child - the process that becomes the command
 * @pid: its number
 * @go: it may go on, in memory that it shares with this process
 */
struct child {
	pid_t pid;
	volatile bool *go;
};

/*
 * If the view is printed to a file or a pipe, the command's output is not: it goes where
 * errors go.
 */
static void give_way(const struct kc_recording *recording)
{
	if (recording->gives_way)
		dup2(STDERR_FILENO, STDOUT_FILENO);
}

/*
 * It waits stopped. So execve() is the first system call that it makes when it goes on,
 * and the trace has no other one of its own.
 */
static void become(const char *path, const struct kc_recording *recording,
		   const struct kc_control *control, pid_t parent, const volatile bool *go)
{
	char *const *command = recording->command;

	sigprocmask(SIG_SETMASK, &before, NULL);
	prctl(PR_SET_NAME, LAUNCHER);
	/* Without a parent there is nothing to do. To a command, SIGCONT says nothing. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	give_way(recording);
	kc_control_pass(control);
	while (!*go) {
		if (getppid() != parent)
			_exit(KC_FAILED);
		kill(getpid(), SIGSTOP);
	}
	execv(path, command);
	fprintf(stderr, "kunwind: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* As fork(), into new namespaces if that is allowed, and the kernel has them. */
static pid_t fork_apart(void)
{
	struct clone_args both = {
		.flags = CLONE_NEWUTS | CLONE_NEWTIME, .exit_signal = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, &both, sizeof(both));

	if (pid < 0)
		pid = syscall(SYS_clone, CLONE_NEWUTS | SIGCHLD, NULL, NULL, NULL, NULL);
	return pid < 0 ? fork() : (pid_t)pid;
}

static bool fork_child(struct child *child, const char *path,
		       const struct kc_recording *recording,
		       const struct kc_control *control)
{
	pid_t parent = getpid();
	int status;

	child->go = mmap(NULL, sizeof(*child->go), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child->go == MAP_FAILED) {
		kc_error(NULL, "mmap: %s", strerror(errno));
		return false;
	}
	child->pid = fork_apart();
	if (!child->pid)
		become(path, recording, control, parent, child->go);
	if (child->pid > 0 && waitpid(child->pid, &status, WUNTRACED) == child->pid &&
	    WIFSTOPPED(status))
		return true;
	kc_error(NULL, "fork: %s", strerror(errno));
	return false;
}

static void let_go(const struct child *child)
{
	*child->go = true;
	kill(child->pid, SIGCONT);
}

/* Return: a filter for what is in the child's own namespaces; NULL if it has none. */
static char *those_within(pid_t pid)
{
	static const char *const kinds[] = { "uts", "time" };
	char *process = g_strdup_printf("%d", (int)pid);
	GString *filter = g_string_new(NULL);
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(kinds); i++) {
		uint64_t number = kc_proc_namespace(process, kinds[i]);

		if (number && number != kc_proc_namespace("self", kinds[i]))
			g_string_append_printf(filter, "%s$ctx.%s_ns == %" PRIu64,
					       filter->len ? " || " : "", kinds[i], number);
	}
	g_free(process);
	return g_string_free(filter, !filter->len);
}

/**
 * struct watch - a recording that goes on
 * @session: its session; NULL once it has ended
 * @from: when it begins, in seconds of CLOCK_MONOTONIC; 0: it has begun
 * @until: when it ends, likewise; 0: not by itself
 * @next: when losses are looked for
 * @warned: they were found
 * @failed: it could not begin, which was said
 * @recorded: it did begin, once at least
 * @recording: it goes on now
 * @control: the command's requests to start and to stop it
 * @signals: tells of signals that are held, so that both can be waited for
 */
struct watch {
	struct kc_session *session;
	time_t from;
	time_t until;
	time_t next;
	bool warned;
	bool failed;
	bool recorded;
	bool recording;
	struct kc_control control;
	int signals;
};

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static bool start_session(struct watch *watch)
{
	watch->recording = kc_session_start(watch->session);
	watch->recorded |= watch->recording;
	watch->failed |= !watch->recording;
	return watch->recording;
}

static void stop_session(struct watch *watch)
{
	(void)kc_session_stop(watch->session);
	watch->recording = false;
}

/* Do what was asked. Return: 0 or a negative errno, for the asker. */
static int obey(struct watch *watch, enum kc_request request)
{
	if (!watch->session)
		return -EPIPE;
	if (request == KC_REQUEST_OTHER)
		return -EINVAL;
	if (request == KC_REQUEST_START) {
		if (watch->recording)
			return -EBUSY;
		return start_session(watch) ? 0 : -EIO;
	}
	if (!watch->recording)
		return -EALREADY;
	stop_session(watch);
	return 0;
}

/* Return: whether the time is over. */
static bool look(struct watch *watch)
{
	if (watch->session && watch->from && now() >= watch->from) {
		watch->from = 0;
		if (!start_session(watch))
			return true;
	}
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
	uint64_t lost, kib = kc_session_buffer(session) >> 10;
	struct statvfs disk;

	stop_session(watch);
	lost = watch->recorded ? kc_session_lost(session) : 0;
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

/*
 * Wait for a second, or until a signal comes or the command asks for something, which is
 * done. Return: the signal's number, or 0.
 */
static int wait_a_while(struct watch *watch)
{
	struct pollfd files[] = {
		{ .fd = watch->signals, .events = POLLIN },
		{ .fd = watch->control.receiver, .events = POLLIN },
	};
	const struct timespec none = { 0 };
	enum kc_request request;
	siginfo_t info;

	(void)poll(files, G_N_ELEMENTS(files), 1000);
	if (files[1].revents) {
		request = kc_control_take(&watch->control);
		if (request != KC_REQUEST_NONE)
			kc_control_answer(&watch->control, obey(watch, request));
	}
	if (sigtimedwait(&held, &info, &none) < 0)
		return 0;
	/* A terminal sends its Ctrl-C to the command, too. */
	if ((info.si_signo == SIGINT || info.si_signo == SIGQUIT) && info.si_code == SI_KERNEL)
		return 0;
	return info.si_signo;
}

static int status_of(pid_t pid, struct watch *watch, const char *folder)
{
	int status, number;
	pid_t ended;

	while (!(ended = waitpid(pid, &status, WNOHANG))) {
		number = wait_a_while(watch);
		if (number && number != SIGCHLD && number != SIGPIPE)
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

/* @watch->session: NULL if nothing is recorded, and that was said */
static void begin_watch(struct watch *watch, const struct kc_recording *recording)
{
	watch->session = kc_session_create(recording->folder, &recording->rules);
	if (recording->delay) {
		watch->from = now() + recording->delay;
	} else if (watch->session && !recording->on_request && !start_session(watch)) {
		kc_session_end(watch->session);
		watch->session = NULL;
	}
	if (recording->duration)
		watch->until = now() + recording->delay + recording->duration;
	watch->next = now() + 2;
}

static int record_command(struct kc_recording *recording)
{
	char *filter;
	struct watch watch = { .control = KC_NO_CONTROL };
	struct child child;
	int status = KC_FAILED, ended;
	char *path;

	/* Not by execvp(), whose attempts would be in the trace. */
	path = g_find_program_in_path(recording->command[0]);
	if (!path) {
		bool there = strchr(recording->command[0], '/') &&
			     !access(recording->command[0], F_OK);

		kc_error(NULL, "%s: %s", recording->command[0],
			 there ? "it cannot be executed" : "command not found");
		recording->failed = true;
		return there ? 126 : 127;
	}
	hold_signals();
	watch.signals = signalfd(-1, &held, SFD_CLOEXEC);
	if ((recording->on_request && !kc_control_open(&watch.control)) ||
	    !fork_child(&child, path, recording, &watch.control)) {
		kc_control_close(&watch.control);
		close(watch.signals);
		release_signals();
		g_free(path);
		return KC_FAILED;
	}
	kc_control_passed(&watch.control);
	filter = those_within(child.pid);
	if (!filter) {
		kc_error("sudo kunwind trace traces them, too",
			 "without root, kunwind traces %s, but not its children",
			 recording->command[0]);
		filter = g_strdup_printf("$ctx.pid == %d", (int)child.pid);
	}
	recording->rules.filter = filter;
	begin_watch(&watch, recording);
	if (watch.session) {
		/* Ctrl-C is for the command; what it did is shown all the same. */
		let_go(&child);
		status = status_of(child.pid, &watch, recording->folder);
		ended = watch.session ? end_watch(&watch, recording->folder) : 0;
		status = status ?: watch.failed ? KC_FAILED : ended;
		recording->failed = watch.failed;
	} else {
		kill(child.pid, SIGKILL);
		(void)status_of(child.pid, &watch, NULL);
		recording->failed = true;
	}
	kc_control_close(&watch.control);
	close(watch.signals);
	release_signals();
	g_free(filter);
	g_free(path);
	return status;
}

/* Return: a filter for a process, those that descend from it, and their children. */
static char *family_of(pid_t pid)
{
	GString *filter = g_string_new(NULL);
	GArray *family = kc_family(pid);
	guint i;

	for (i = 0; i < family->len && i < MAX_NAMED; i++) {
		int one = g_array_index(family, int, i);

		g_string_append_printf(filter, "%s$ctx.pid == %d || $ctx.ppid == %d",
				       i ? " || " : "", one, one);
	}
	if (family->len > MAX_NAMED)
		kc_error(NULL, "process %d has %u descendants: %d of them are recorded",
			 (int)pid, family->len - 1, MAX_NAMED - 1);
	g_array_unref(family);
	return g_string_free(filter, FALSE);
}

static int record_others(struct kc_recording *recording)
{
	struct watch watch = { .control = KC_NO_CONTROL };
	char *filter = NULL;
	int status = KC_FAILED;

	/* From here on Ctrl-C ends the recording, whenever it comes. */
	hold_signals();
	if (recording->pid)
		filter = family_of(recording->pid);
	recording->rules.filter = filter;
	begin_watch(&watch, recording);
	if (watch.session) {
		wait_for_end(recording->pidfd, &watch);
		status = end_watch(&watch, recording->folder);
		status = watch.failed ? KC_FAILED : status;
		recording->failed = watch.failed;
	} else {
		recording->failed = true;
	}
	release_signals();
	g_free(filter);
	return status;
}

int kc_record(struct kc_recording *recording)
{
	return recording->command ? record_command(recording) : record_others(recording);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Recording a command and its children, a process, or everything.
 *
 * A command and its children have namespaces of their own (child.h). A user who may not
 * make any gets the process alone, and is told so.
 *
 * A process that runs already keeps its namespaces. The filter names it and all its
 * descendants, also as parents. A grandchild that begins later is not recorded, as its
 * parent is not named.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "child.h"
#include "command.h"
#include "control.h"
#include "family.h"
#include "record.h"

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
 * struct watch - a recording that goes on
 * @session: its session; NULL once it has ended
 * @from: when it begins, in seconds of CLOCK_MONOTONIC; 0: it has begun
 * @until: when it ends, likewise; 0: not by itself
 * @next: when losses are looked for
 * @warned: they were found
 * @failed: it could not begin, or was not ended as it should be, which was said
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
	int status;

	stop_session(watch);
	lost = watch->recorded ? kc_session_lost(session) : 0;
	watch->session = NULL;
	status = kc_session_end(session) ? 0 : KC_FAILED;
	if (lost) {
		char *next = g_strdup_printf("-m %" PRIu64 "K makes the buffers twice as large",
					     2 * kib);

		kc_error(next, "%" PRIu64 " events were lost: the buffers of %" PRIu64 " KiB for each CPU were full",
			 lost, kib);
		g_free(next);
	}
	if (statvfs(folder, &disk) || disk.f_bavail * disk.f_frsize >= LEAST_ROOM)
		return status;
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
			watch->failed |= end_watch(watch, folder) != 0;
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
		(void)kc_session_end(watch->session);
		watch->session = NULL;
	}
	if (recording->duration)
		watch->until = now() + recording->delay + recording->duration;
	watch->next = now() + 2;
}

/*
 * Not by execvp(), whose attempts would be in the trace.
 * Return: the program, for g_free(); or NULL, and @status, if there is none, which was said
 */
static char *find_program(const char *command, int *status)
{
	char *path = g_find_program_in_path(command);
	bool there;

	if (!path) {
		there = strchr(command, '/') && !access(command, F_OK);
		kc_error(NULL, "%s: %s", command,
			 there ? "it cannot be executed" : "command not found");
		*status = there ? 126 : 127;
	}
	return path;
}

static char *command_filter(const struct kc_child *child)
{
	char *filter = kc_child_filter(child);

	if (filter)
		return filter;
	kc_error("sudo kunwind trace traces them, too",
		 "without root, kunwind traces %s, but not its children", child->command[0]);
	return g_strdup_printf("$ctx.pid == %d", (int)child->pid);
}

/* @child: it waits to begin. Return: the command's status, or that of the recording. */
static int record_child(struct kc_recording *recording, struct watch *watch,
			const struct kc_child *child)
{
	int status = KC_FAILED, ended;
	char *filter;

	filter = command_filter(child);
	recording->rules.filter = filter;
	begin_watch(watch, recording);
	if (watch->session) {
		/* Ctrl-C is for the command; what it did is shown all the same. */
		kc_child_let_go(child);
		status = status_of(child->pid, watch, recording->folder);
		ended = watch->session ? end_watch(watch, recording->folder) : 0;
		status = status ?: watch->failed ? KC_FAILED : ended;
		recording->failed = watch->failed && !watch->recorded;
	} else {
		kill(child->pid, SIGKILL);
		(void)status_of(child->pid, watch, NULL);
		recording->failed = true;
	}
	g_free(filter);
	return status;
}

static int record_command(struct kc_recording *recording)
{
	struct watch watch = { .control = KC_NO_CONTROL };
	struct kc_child child = {
		.command = recording->command, .gives_way = recording->gives_way,
		.signals = &before, .control = &watch.control,
	};
	int status = KC_FAILED;
	char *path;

	path = find_program(recording->command[0], &status);
	if (!path) {
		recording->failed = true;
		return status;
	}
	child.path = path;
	hold_signals();
	watch.signals = signalfd(-1, &held, SFD_CLOEXEC);
	if ((!recording->on_request || kc_control_open(&watch.control)) &&
	    kc_child_fork(&child)) {
		kc_control_passed(&watch.control);
		status = record_child(recording, &watch, &child);
	} else {
		recording->failed = true;
	}
	kc_control_close(&watch.control);
	close(watch.signals);
	release_signals();
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

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The process that a session records for. Processes of several PID namespaces can have the
 * same number and the same session daemon, so the name has the namespace's number, too. Later
 * processes can have the same number, so it also has the time when the process began. That is
 * another one for each time namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "owner.h"
#include "proc.h"

#define FORMAT		"kunwind-%d-%" PRIu64 "-%" PRIu64 "-%llu"
#define SCAN		"kunwind-%d-%" SCNu64 "-%" SCNu64 "-%llu%n"

/* PROC_PID_INIT_INO of the kernel: the first namespace, which sees all others; they have larger numbers. */
#define FIRST_NAMESPACE	0xEFFFFFFCU

/* Return: when a process began; 0 if /proc does not say it, as that of another namespace. */
static unsigned long long start_of(int pid)
{
	g_autofree char *self = g_file_read_link("/proc/self", NULL);
	struct kc_proc_stat stat;

	return self && atoi(self) == (int)getpid() && kc_proc_stat(pid, &stat) ? stat.start : 0;
}

char *kc_owner_name(void)
{
	return g_strdup_printf(FORMAT, (int)getpid(), kc_proc_namespace("self", "pid"),
			       kc_proc_namespace("self", "time"), start_of(getpid()));
}

/* Return: whether the process of that number began at another time, as far as that can be told. */
static bool is_another(int pid, uint64_t time_namespace, unsigned long long start)
{
	unsigned long long its = start_of(pid);

	return start && its && its != start &&
	       time_namespace == kc_proc_namespace("self", "time");
}

/* Return: whether a process can be in a namespace; those of others cannot be read. */
static bool is_inhabited(uint64_t namespace)
{
	GDir *dir = g_dir_open("/proc", 0, NULL);
	bool found = !dir;
	const char *name;

	while (!found && (name = g_dir_read_name(dir))) {
		uint64_t its = g_ascii_isdigit(name[0]) ? kc_proc_namespace(name, "pid") : namespace;

		found = g_ascii_isdigit(name[0]) && (its == namespace || (!its && geteuid()));
	}
	if (dir)
		g_dir_close(dir);
	return found;
}

bool kc_owner_is_gone(const char *session)
{
	uint64_t namespace, time_namespace, own = kc_proc_namespace("self", "pid");
	unsigned long long start;
	int pid, length;

	/* Others call sessions what they like: kunwind-20261124-153000 is no name of a process. */
	if (sscanf(session, SCAN, &pid, &namespace, &time_namespace, &start, &length) != 4 ||
	    session[length] || pid <= 0 || namespace < FIRST_NAMESPACE)
		return false;
	if (namespace == own)
		return (kill(pid, 0) && errno == ESRCH) || is_another(pid, time_namespace, start);
	return own == FIRST_NAMESPACE && !is_inhabited(namespace);
}

/* Whatever ends the owner, the other end of the pipe is closed then. */
static void wait_for_end(const char *session, int pipe)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n;
	char byte;

	prctl(PR_SET_NAME, "kunwind-watch");
	/* What is sent to all of the owner's group, or closed with its terminal, is not for it. */
	setsid();
	dup2(pipe, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	do
		n = read(STDIN_FILENO, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (!n)
		(void)lttng_destroy_session(session);
	_exit(0);
}

int kc_owner_watch(const char *session)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		wait_for_end(session, ends[0]);
	}
	close(ends[0]);
	if (pid > 0)
		return ends[1];
	close(ends[1]);
	return -1;
}

void kc_owner_unwatch(int watched, bool ended)
{
	if (watched < 0)
		return;
	if (ended)
		(void)!write(watched, "", 1);
	close(watched);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which process a session records for, and whether that is gone or another one has its number. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/sched.h>
#include <lttng/lttng.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "owner.h"
#include "tap.h"

#define TICKS_US	100000

/* LTTng's: no session ends here. */
int lttng_destroy_session(const char *name)
{
	(void)name;
	return 0;
}

static void wait_for_end(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pause())
		;
}

/* A process that waits for its end. @number: the one that it has; 0: any. */
static pid_t start(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&number,
		.set_tid_size = number ? 1 : 0,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (!pid)
		wait_for_end();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * A process that says its session's name, and waits then. @offset: in a time namespace of its own,
 * where it began at another time.
 */
static pid_t start_owner(char *name, size_t size, const char *offset)
{
	int ends[2], fd;
	ssize_t n;
	pid_t pid;

	if (pipe(ends))
		tap_bail("pipe: %s", strerror(errno));
	pid = offset && unshare(CLONE_NEWTIME) ? -1 : 0;
	fd = offset && !pid ? open("/proc/self/timens_offsets", O_WRONLY) : -1;
	if (offset && (fd < 0 || write(fd, offset, strlen(offset)) < 0))
		pid = -1;
	pid = pid ?: fork();
	if (!pid) {
		g_autofree char *own = kc_owner_name();

		if (write(ends[1], own, strlen(own)) > 0)
			wait_for_end();
		_exit(1);
	}
	close(fd);
	close(ends[1]);
	n = pid < 0 ? 0 : read(ends[0], name, size - 1);
	name[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	return pid;
}

static void test_reused(void)
{
	char name[256];
	pid_t pid = start_owner(name, sizeof(name), NULL), next;

	if (pid < 0)
		tap_bail("cannot start: %s", strerror(errno));
	tap_ok(!kc_owner_is_gone(name), "a process that runs");
	usleep(TICKS_US);
	end(pid);
	tap_ok(kc_owner_is_gone(name), "one that has ended");
	next = start(pid);
	if (next < 0) {
		tap_skip("another one has its number", strerror(errno));
		return;
	}
	tap_ok(next == pid && kc_owner_is_gone(name), "another one has its number");
	end(next);
}

/* The time of its start is another one for those who see it from outside. */
static void test_other_time(void)
{
	char name[256];
	pid_t pid = start_owner(name, sizeof(name), "boottime 100000 0\n");

	if (pid < 0) {
		tap_skip("a process in another time namespace", strerror(errno));
		return;
	}
	tap_ok(!kc_owner_is_gone(name), "a process in another time namespace");
	end(pid);
	tap_ok(kc_owner_is_gone(name), "one that has ended");
}

static void test_others(void)
{
	static const char *const names[] = {
		"", "kunwind", "kunwind-20261124-153000", "kunwind-1", "auto-20261124-153000",
	};
	g_autofree char *own = kc_owner_name();
	g_autofree char *longer = g_strdup_printf("%s-", own);
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(names); i++)
		tap_ok(!kc_owner_is_gone(names[i]), "a session called '%s'", names[i]);
	tap_ok(!kc_owner_is_gone(longer), "and a name with more behind it");
	tap_ok(!kc_owner_is_gone(own), "this process");
}

int main(void)
{
	test_others();
	test_reused();
	test_other_time();
	return tap_done();
}

// SPDX-License-Identifier: MIT
/* Storms of processes and threads. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"

#define MAX_DEPTH	40
#define THREADS		6

extern char **environ;

/* Somewhere on the stack, @what is done. */
static NOINLINE void deep(unsigned int depth, void (*what)(void))
{
	CALLED();
	if (depth)
		deep(depth - 1, what);
	else
		what();
	RETURNS();
}

static NOINLINE void grandchild(void)
{
	CALLED();
	look_again();
	look(LIVE_MAIN, PEER_ASKED, "a grandchild");
	RETURNS();
}

static NOINLINE void child(void)
{
	int pid;

	CALLED();
	look_again();
	look(LIVE_MAIN, PEER_ASKED, "a child");
	if (!chance(4)) {
		pid = fork();
		if (!pid) {
			grandchild();
			_exit(0);
		}
		reap(pid, "fork");
	}
	RETURNS();
}

static NOINLINE void fork_here(void)
{
	int pid = fork();

	CALLED();
	if (!pid) {
		child();
		_exit(0);
	}
	look(LIVE_MAIN, PEER_ASKED, "next to a child");
	RETURNS();
	reap(pid, "fork");
}

NOINLINE void storm_fork(void)
{
	CALLED();
	deep(chance(MAX_DEPTH), fork_here);
	RETURNS();
}

static NOINLINE void vfork_here(void)
{
	int pid;

	CALLED();
	pid = vfork();
	if (!pid) {
		look(LIVE_MAIN, PEER_ASKED, "in the parent's memory");
		become_check(NULL);
	}
	look(LIVE_MAIN, PEER_ASKED, "after a vfork");
	RETURNS();
	reap(pid, "vfork");
}

NOINLINE void storm_vfork(void)
{
	CALLED();
	deep(chance(MAX_DEPTH), vfork_here);
	RETURNS();
}

NOINLINE void storm_spawn(void)
{
	char path[] = "/proc/self/exe", *argv[] = { path, "--check", NULL };
	pid_t pid;

	CALLED();
	errno = posix_spawn(&pid, path, NULL, NULL, argv, environ);
	if (errno)
		trouble("posix_spawn");
	else
		reap(pid, "posix_spawn");
	RETURNS();
}

static NOINLINE void look_in_thread(void)
{
	CALLED();
	look(LIVE_THREAD, PEER_ASKED, "a thread");
	RETURNS();
}

static NOINLINE void *begin_thread(void *unused)
{
	(void)unused;
	CALLED();
	deep(chance(MAX_DEPTH), look_in_thread);
	RETURNS();
	return NULL;
}

NOINLINE void storm_threads(void)
{
	pthread_t threads[THREADS];

	CALLED();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, begin_thread, NULL))
			tap_bail("pthread_create");
	look(LIVE_MAIN, PEER_ASKED, "next to threads");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	RETURNS();
}

/* vfork() returns when the new program has begun. */
NOINLINE void storm_deleted(void)
{
	char path[] = "/tmp/storm-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC), pid;

	CALLED();
	if (fd < 0 || !code_copy("/proc/self/exe", fd) || fchmod(fd, 0755) || close(fd)) {
		trouble("a copy of the program");
	} else {
		pid = vfork();
		if (!pid)
			become_check(path);
		unlink(path);
		reap(pid, "vfork");
	}
	RETURNS();
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	ret = fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
	if (fd >= 0)
		close(fd);
	return ret;
}

/*
 * As a container has it: an overlay over the program's folder, in a tmpfs. The folder
 * may lie below /tmp itself.
 */
static int enter_overlay(const char *folder)
{
	char users[32], groups[32], data[512];
	int lower, ret;

	snprintf(users, sizeof(users), "0 %d 1", geteuid());
	snprintf(groups, sizeof(groups), "0 %d 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) ||
	    put("/proc/self/setgroups", "deny") ||
	    put("/proc/self/uid_map", users) || put("/proc/self/gid_map", groups))
		return -1;
	/* An overlay takes it of its own mount namespace only. */
	lower = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (lower < 0)
		return -1;
	snprintf(data, sizeof(data),
		 "lowerdir=/proc/self/fd/%d,upperdir=/tmp/upper,workdir=/tmp/work",
		 lower);
	ret = mount("none", "/tmp", "tmpfs", 0, NULL) || mkdir("/tmp/upper", 0755) ||
	      mkdir("/tmp/work", 0755) || mkdir("/tmp/merged", 0755) ||
	      mount("overlay", "/tmp/merged", "overlay", 0, data) ? -1 : 0;
	close(lower);
	return ret;
}

static int contain(void)
{
	char program[400], *slash;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char merged[sizeof(program) + 16];
	int pid;

	if (length < 0)
		return -1;
	program[length] = '\0';
	slash = strrchr(program, '/');
	*slash = '\0';
	if (enter_overlay(program))
		return -1;
	snprintf(merged, sizeof(merged), "/tmp/merged/%s", slash + 1);
	/* The first process of the new PID namespace. */
	pid = fork();
	if (!pid)
		become_check(merged);
	reap(pid, "a program in namespaces");
	return 0;
}

NOINLINE void storm_namespaces(void)
{
	int pid;

	CALLED();
	pid = fork();
	if (!pid) {
		if (contain())
			trouble("namespaces");
		_exit(0);
	}
	reap(pid, "namespaces");
	RETURNS();
}

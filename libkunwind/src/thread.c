// SPDX-License-Identifier: MIT
/* Backtraces of other threads. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"
#include "libkunwind.h"

/*
 * Numbers in /proc must be of the caller's PID namespace, where the module looks them up.
 * NSpid has a number for each namespace from that of /proc to that of the process.
 * Return: 0 or a negative errno.
 */
static int check_namespace(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	int outer, inner, ret = 0;
	char line[128];

	if (!status)
		return -errno;
	while (!ret && fgets(line, sizeof(line), status))
		if (sscanf(line, "NSpid: %d %d", &outer, &inner) == 2)
			ret = -ESRCH;
	fclose(status);
	return ret;
}

/*
 * /proc/self has the descriptors of the process's first thread, which may have ended; a
 * thread can have others (CLONE_FILES).
 * Return: the process of @pidfd; 0 if it has ended; a negative errno.
 */
static pid_t process_of(int pidfd)
{
	char path[64], line[128];
	pid_t pid = -EBADF;
	FILE *info;
	int err;

	err = check_namespace();
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", pidfd);
	info = fopen(path, "re");
	/* /proc is there, as check_namespace() has read it: the descriptor is not. */
	if (!info)
		return errno == ENOENT ? -EBADF : -errno;
	while (fgets(line, sizeof(line), info))
		if (sscanf(line, "Pid: %d", &pid) == 1)
			break;
	fclose(info);
	return pid == -1 ? 0 : pid;
}

/* Whether its process has not ended: until then, no other process has its number. */
static int is_alive(int pidfd)
{
	return !syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) || errno != ESRCH;
}

static int take(struct kunwind_handle *handle, pid_t pid, pid_t tid, struct kunwind_bt *bt)
{
	struct kunwind_thread answer;
	uint32_t capacity = bt->stack.capacity;
	long ret;

	bt->thread = (struct kunwind_thread) {
		.size = sizeof(bt->thread),
		.pid = pid,
		.tid = tid ? tid : pid,
		.capacity = capacity,
	};
	ret = kunwind_ioctl(handle->fd, KUNWIND_IOC_THREAD, &bt->thread);
	answer = bt->thread;
	bt->stack = (struct kunwind_stack) { .capacity = capacity };
	bt->state = 0;
	if (ret < 0)
		return ret;
	bt->stack.count = answer.count;
	bt->stack.proven = answer.proven;
	bt->stack.stop = answer.stop;
	bt->state = answer.state;
	return answer.count;
}

EXPORT int kunwind_backtrace_thread(struct kunwind_handle *handle, int pidfd, pid_t tid,
				    struct kunwind_bt *bt)
{
	int saved_errno = errno, ret;
	pid_t pid;

	if (!bt)
		return -EINVAL;
	if (!handle || pidfd < -1 || tid < 0)
		pid = -EINVAL;
	else
		pid = pidfd == -1 ? getpid() : process_of(pidfd);
	ret = pid > 0 ? take(handle, pid, tid, bt) : pid ? pid : -ESRCH;
	if (pidfd != -1 && ret >= 0 && !is_alive(pidfd))
		ret = -ESRCH;
	if (ret < 0)
		kunwind_make_empty(bt);
	errno = saved_errno;
	return ret;
}

EXPORT uint32_t kunwind_backtrace_state(const struct kunwind_bt *bt)
{
	return bt->state;
}

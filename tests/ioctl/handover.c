// SPDX-License-Identifier: MIT
/*
 * A daemon starts a user's program as after vfork(). Until execve(), the child has the
 * daemon's memory and is the user. The user asks for the child's stack at that moment: the
 * daemon is not his to cover.
 *
 * usage: handover FIGURE WAITED: files that say how many address spaces are covered, and how
 * many requests wait for an execve()
 */
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "request.h"

#define NOBODY	65534

static int pids[2], answers[2], ends[2], waited;

/* What the user does: he asks when the child says which process it is. */
static void be_user(void)
{
	static struct {
		struct kunwind_thread thread;
		struct kunwind_frame frames[64];
	} request;
	int32_t answer;
	pid_t child;
	char byte;
	int file;

	close(ends[1]);
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
	file = open(DEVICE, O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(pids[0], &child, sizeof(child)) != sizeof(child))
		_exit(1);
	request.thread = (struct kunwind_thread) {
		.size = sizeof(request.thread),
		.pid = child,
		.tid = child,
		.capacity = 64,
	};
	answer = raw_ioctl(file, KUNWIND_IOC_THREAD, &request);
	if (write(answers[1], &answer, sizeof(answer)) != sizeof(answer))
		_exit(1);
	/* The file stays open until the daemon has looked. */
	_exit(read(ends[0], &byte, 1) != 0);
}

/*
 * It shares the daemon's memory: no function of libc that changes some. Its execve() comes when
 * the request has looked up its memory, and not before.
 */
static pid_t start_program(void)
{
	static char *const argv[] = { (char *)"sleep", (char *)"100", NULL };
	static int tries = 10000;
	static pid_t self;
	static char count;
	pid_t child = vfork();

	if (child)
		return child;
	if (!syscall(SYS_setgroups, 0, NULL) && !syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) &&
	    !syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY)) {
		self = getpid();
		if (write(pids[1], &self, sizeof(self)) == sizeof(self)) {
			while (pread(waited, &count, 1, 0) == 1 && count == '0' && --tries)
				usleep(1000);
			execv("/bin/sleep", argv);
		}
	}
	_exit(1);
}

static int covered(const char *figure)
{
	FILE *file = fopen(figure, "re");
	int count = -1;

	if (!file || fscanf(file, "%d", &count) != 1)
		tap_bail("%s: %s", figure, strerror(errno));
	fclose(file);
	return count;
}

int main(int argc, char **argv)
{
	int32_t answer = 0;
	pid_t user, child;
	int status, spaces;

	if (argc != 3 || geteuid())
		tap_bail("usage, as root: handover FIGURE WAITED");
	waited = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (waited < 0)
		tap_bail("%s: %s", argv[2], strerror(errno));
	if (pipe2(pids, O_CLOEXEC) || pipe2(answers, O_CLOEXEC) || pipe2(ends, O_CLOEXEC))
		tap_bail("pipe: %s", strerror(errno));
	user = fork();
	if (!user)
		be_user();
	close(answers[1]);
	child = start_program();
	if (read(answers[0], &answer, sizeof(answer)) != sizeof(answer))
		tap_bail("the user does not answer");
	spaces = covered(argv[1]);
	close(ends[1]);
	waitpid(user, &status, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status), "a user asks for a child's stack");
	expect(answer, -ESRCH, "whose memory was a daemon's, and is its own now");
	tap_ok(spaces == 1, "the user is covered, and the daemon is not");
	tap_diag("%d address spaces are covered", spaces);
	return tap_done();
}

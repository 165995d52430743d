// SPDX-License-Identifier: MIT
/*
 * A user asks for the stack of a process, and meanwhile it starts a program. kunwind-test.ko
 * makes the request wait for that (tests/module/handover.c).
 *
 * A daemon starts a user's program as after vfork(). Until execve(), the child has the
 * daemon's memory and is the user. The daemon is not his to cover.
 *
 * A process of the user's starts a program between the check and the walk. What the check
 * allowed was the old program, and the new one may have another user's rights.
 *
 * usage: handover FIGURE: the file that says how many address spaces are covered
 */
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "parameters.h"
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
 * What the child does. It may share the daemon's memory: no function of libc that changes some.
 * Its execve() comes when the request waits for it, and not before.
 */
static void start_program(bool shares)
{
	static char *const argv[] = { (char *)"sleep", (char *)"100", NULL };
	static int tries;
	static pid_t self;
	static char count;

	/* A process that changes its user can be seen by root alone, unless it wants otherwise. */
	if (!syscall(SYS_setgroups, 0, NULL) && !syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) &&
	    !syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) &&
	    (shares || !prctl(PR_SET_DUMPABLE, 1))) {
		self = getpid();
		tries = 10000;
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

struct outcome {
	int32_t answer;
	/* How many address spaces are covered, after the answer. */
	int spaces;
};

/* The request waits before @step. */
static struct outcome ask_meanwhile(const char *step, bool shares, const char *figure)
{
	struct outcome o;
	pid_t user, child;
	int status;

	set("handover", step);
	waited = open(PARAMETERS "handover", O_RDONLY | O_CLOEXEC);
	if (waited < 0 || pipe2(pids, O_CLOEXEC) || pipe2(answers, O_CLOEXEC) ||
	    pipe2(ends, O_CLOEXEC))
		tap_bail("%s: %s", step, strerror(errno));
	user = fork();
	if (!user)
		be_user();
	close(answers[1]);
	child = shares ? vfork() : fork();
	if (!child)
		start_program(shares);
	if (read(answers[0], &o.answer, sizeof(o.answer)) != sizeof(o.answer))
		tap_bail("%s: the user does not answer", step);
	o.spaces = covered(figure);
	set("handover", "\n");
	close(waited);
	close(ends[1]);
	waitpid(user, &status, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status), "a user asks for a child's stack");
	return o;
}

int main(int argc, char **argv)
{
	struct outcome o;

	if (argc != 2 || geteuid())
		tap_bail("usage, as root: handover FIGURE");
	o = ask_meanwhile("kw_may_see", true, argv[1]);
	expect(o.answer, -ESRCH, "whose memory was a daemon's, and is its own now");
	tap_ok(o.spaces == 1, "the user is covered, and the daemon is not");
	tap_diag("%d address spaces are covered", o.spaces);
	o = ask_meanwhile("kw_walk_thread", false, argv[1]);
	expect(o.answer, -ESRCH, "which the user may see, until it starts another program");
	return tap_done();
}

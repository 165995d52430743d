// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The command's requests to be recorded. libkunwind/src/recorder.c makes them: one byte, and
 * the end of a socket for the answer.
 *
 * The command is not trusted: it can switch the recording on and off, as --on-request promises,
 * and nothing else. What it sends may be any file, such as one of its own file server, and then
 * even close() can wait for ever. So each request is received and answered by a process of its
 * own, which has nothing that others wait for. This program never has the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "control.h"

#define VARIABLE	"KUNWIND_PROFILE_FD"

/* So many receivers may hang, or take long to end. With more, the command could fill the system. */
#define MOST_RECEIVERS	64

bool kc_control_open(struct kc_control *control)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		kc_error(NULL, "socketpair: %s", strerror(errno));
		return false;
	}
	*control = KC_NO_CONTROL;
	control->own = ends[0];
	control->command = ends[1];
	return true;
}

void kc_control_pass(const struct kc_control *control)
{
	/* The copy stays open in the command. */
	int copy = control->own < 0 ? -1 : dup(control->command);
	char text[64];
	struct stat st;

	if (copy < 0 || fstat(copy, &st))
		return;
	/* A program that closes it may have another file with this number. */
	snprintf(text, sizeof(text), "%d:%lu", copy, (unsigned long)st.st_ino);
	setenv(VARIABLE, text, 1);
}

/* Return: the one descriptor that came; -1 if it is not one. */
static int take_descriptor(struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd;

	if (!header || header->cmsg_level != SOL_SOCKET ||
	    header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* Return: what was asked, and *@answer, which may be -1; or -1 if no process can ask. */
static int take_message(int from, int *answer)
{
	/* Room for one descriptor: the kernel closes further ones. */
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} room;
	char what = 0;
	struct iovec text = { &what, 1 };
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1,
		.msg_control = &room, .msg_controllen = CMSG_LEN(sizeof(int)),
	};
	ssize_t size = recvmsg(from, &message, MSG_CMSG_CLOEXEC);

	*answer = size < 0 ? -1 : take_descriptor(&message);
	return size > 0 || *answer >= 0 ? what : -1;
}

/* In the receiver: one request. @from: where requests come; @to: the command kunwind. */
static void receive(int from, int to)
{
	int answer, what, result;
	char byte;

	prctl(PR_SET_NAME, "kunwind-request");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What this process holds while it hangs, others could wait for. */
	dup2(from, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	(void)close_range(STDERR_FILENO, ~0U, 0);
	what = take_message(STDIN_FILENO, &answer);
	close(STDIN_FILENO);
	if (what < 0)
		return;
	byte = (char)what;
	if (send(STDOUT_FILENO, &byte, 1, MSG_NOSIGNAL) == 1 &&
	    recv(STDOUT_FILENO, &result, sizeof(result), 0) == sizeof(result) && answer >= 0)
		(void)!send(answer, &result, sizeof(result), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Only receivers are children without a signal at their end (__WCLONE). */
static void reap_receivers(struct kc_control *control)
{
	while (waitpid(-1, NULL, WNOHANG | __WCLONE) > 0)
		control->receivers--;
}

static void end_receiver(struct kc_control *control)
{
	pid_t ended;

	if (control->receiver >= 0)
		close(control->receiver);
	control->receiver = -1;
	/* If it was reaped before, its number can be another process's by now. */
	ended = control->pid > 0 ? waitpid(control->pid, NULL, WNOHANG | __WCLONE) : -1;
	if (ended > 0)
		control->receivers--;
	else if (!ended)
		kill(control->pid, SIGKILL);
	control->pid = -1;
	reap_receivers(control);
}

/* Without a receiver, those that ask get an error. */
static void start_receiver(struct kc_control *control)
{
	int ends[2];

	if (control->own < 0)
		return;
	if (control->receivers >= MOST_RECEIVERS) {
		kc_error(NULL, "the command sends files that cannot be closed: no more of its requests are taken");
		kc_control_close(control);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		kc_control_close(control);
		return;
	}
	control->pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (!control->pid) {
		receive(control->own, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	control->receiver = ends[0];
	if (control->pid < 0)
		kc_control_close(control);
	else
		control->receivers++;
}

void kc_control_passed(struct kc_control *control)
{
	if (control->command >= 0)
		close(control->command);
	control->command = -1;
	start_receiver(control);
}

void kc_control_close(struct kc_control *control)
{
	end_receiver(control);
	if (control->command >= 0)
		close(control->command);
	if (control->own >= 0)
		close(control->own);
	*control = KC_NO_CONTROL;
}

enum kc_request kc_control_take(struct kc_control *control)
{
	char what = 0;
	ssize_t size = recv(control->receiver, &what, 1, MSG_DONTWAIT);

	if (size < 0)
		return KC_REQUEST_NONE;
	if (!size) {
		kc_control_close(control);
		return KC_REQUEST_NONE;
	}
	return what == '+' ? KC_REQUEST_START :
	       what == '-' ? KC_REQUEST_STOP : KC_REQUEST_OTHER;
}

void kc_control_answer(struct kc_control *control, int result)
{
	(void)!send(control->receiver, &result, sizeof(result), MSG_DONTWAIT | MSG_NOSIGNAL);
	/* It ends by itself; what it has received must be closed after the answer. */
	close(control->receiver);
	control->receiver = -1;
	reap_receivers(control);
	start_receiver(control);
}

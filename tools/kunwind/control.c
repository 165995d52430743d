// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The command's requests to be recorded. libkunwind/src/recorder.c makes them: one byte, and
 * the end of a socket for the answer.
 *
 * The command is not trusted: it can switch the recording on and off, as --on-request promises,
 * and nothing else. Nobody waits for a process that does not read its answer.
 */
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "control.h"

#define VARIABLE	"KUNWIND_PROFILE_FD"

bool kc_control_open(struct kc_control *control)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		kc_error(NULL, "socketpair: %s", strerror(errno));
		return false;
	}
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

void kc_control_passed(struct kc_control *control)
{
	if (control->command >= 0)
		close(control->command);
	control->command = -1;
}

void kc_control_close(struct kc_control *control)
{
	kc_control_passed(control);
	if (control->own >= 0)
		close(control->own);
	control->own = -1;
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

enum kc_request kc_control_take(struct kc_control *control, int *answer)
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
	ssize_t size = recvmsg(control->own, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (size < 0)
		return KC_REQUEST_NONE;
	*answer = take_descriptor(&message);
	if (!size && *answer < 0)
		kc_control_close(control);
	if (what == '+')
		return KC_REQUEST_START;
	if (what == '-')
		return KC_REQUEST_STOP;
	if (*answer >= 0)
		close(*answer);
	return KC_REQUEST_NONE;
}

void kc_control_answer(int answer, int result)
{
	if (answer < 0)
		return;
	/* It may be any file, or full. */
	(void)!send(answer, &result, sizeof(result), MSG_DONTWAIT | MSG_NOSIGNAL);
	close(answer);
}

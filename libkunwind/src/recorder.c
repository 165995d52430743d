// SPDX-License-Identifier: MIT
/*
 * Under `kunwind profile --on-request`, programs inherit a socket, whose number and inode are
 * in the environment. A request is one byte, with a socket's end for the answer, so that many
 * processes can ask at once. The answer is an int: 0 or a negative errno.
 *
 * The command's end is tools/kunwind/control.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder.h"

#define VARIABLE	"KUNWIND_PROFILE_FD"

int kunwind_recorder_exists(void)
{
	return getenv(VARIABLE) != NULL;
}

/* Return: 0, -EPIPE if nobody reads, or another negative errno. */
static int send_request(int to, char what, int answer)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(answer))];
	} control = {
		.header = {
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(answer)),
		},
	};
	struct iovec text = { &what, 1 };
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control.room),
	};

	memcpy(CMSG_DATA(&control.header), &answer, sizeof(answer));
	while (sendmsg(to, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return errno == ECONNREFUSED || errno == ECONNRESET ? -EPIPE : -errno;
	return 0;
}

/*
 * Return: the socket; -EBADF if the program has closed it. Another file may have its number, to
 * which nothing may be sent.
 */
static int find_socket(void)
{
	const char *variable = getenv(VARIABLE);
	unsigned long inode;
	struct stat st;
	int fd;

	if (!variable || sscanf(variable, "%d:%lu", &fd, &inode) != 2 || fstat(fd, &st) ||
	    !S_ISSOCK(st.st_mode) || st.st_ino != inode)
		return -EBADF;
	return fd;
}

static int ask(char what)
{
	int answer[2], ret, result, to = find_socket();
	ssize_t size;

	if (to < 0)
		return to;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, answer))
		return -errno;
	ret = send_request(to, what, answer[1]);
	close(answer[1]);
	if (!ret) {
		do {
			size = read(answer[0], &result, sizeof(result));
		} while (size < 0 && errno == EINTR);
		/* It has ended meanwhile. */
		ret = size == sizeof(result) ? result : -EPIPE;
	}
	close(answer[0]);
	return ret;
}

int kunwind_recorder_start(void)
{
	return ask('+');
}

int kunwind_recorder_stop(void)
{
	return ask('-');
}

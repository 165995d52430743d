// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Messages between the reader, its parent and the symbolizer. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "reader_budgets.h"
#include "wire.h"

static const char *const types[KR_NR_WIRES] = {
	[KR_ANSWER] = KR_ANSWER_TYPE,
	[KR_OPEN] = KR_OPEN_TYPE,
	[KR_MATCHED] = KR_MATCHED_TYPE,
	[KR_LOOK] = KR_LOOK_TYPE,
	[KR_REOPEN] = KR_REOPEN_TYPE,
	[KR_FIND] = KR_FIND_TYPE,
	[KR_FOUND] = KR_FOUND_TYPE,
	[KR_RESOLVE] = KR_RESOLVE_TYPE,
	[KR_RESOLVED] = KR_RESOLVED_TYPE,
	[KR_ASK_PACKAGES] = KR_ASK_PACKAGES_TYPE,
	[KR_PACKAGES] = KR_PACKAGES_TYPE,
};

struct head {
	uint32_t kind;
	uint32_t length;
};

/* Room for one file descriptor, as cmsg(3) has it. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool kr_wire_send(int socket, enum kr_wire kind, GVariant *body, int passed)
{
	GVariant *owned = g_variant_ref_sink(body);
	const char *bytes = g_variant_get_data(owned);
	struct head head = {
		.kind = kind, .length = (uint32_t)g_variant_get_size(owned),
	};
	struct iovec parts[] = {
		{ &head, sizeof(head) }, { (void *)bytes, head.length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = G_N_ELEMENTS(parts) };
	union control control = { 0 };
	struct cmsghdr *header;
	size_t done = 0, all = sizeof(head) + head.length;
	ssize_t n;

	if (passed >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &passed, sizeof(passed));
	}
	while (done < all) {
		n = done ? send(socket, bytes + done - sizeof(head), all - done,
				MSG_NOSIGNAL) :
			   sendmsg(socket, &message, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || done + (size_t)n < sizeof(head))
			break;
		done += (size_t)n;
	}
	g_variant_unref(owned);
	return done == all;
}

/* Each side waits for an answer before it sends again: what is there is one message. */
struct received {
	struct head head;
	char bytes[4096];
};

/* Return: how many bytes have come; the first ones come at once. */
static ssize_t receive_first(int socket, struct received *first, int *passed)
{
	struct iovec part = { .iov_base = first, .iov_len = sizeof(*first) };
	union control control;
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;
	ssize_t n;

	if (passed) {
		*passed = -1;
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	header = n < 0 || !passed ? NULL : CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET &&
	    header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(passed, CMSG_DATA(header), sizeof(*passed));
	return n;
}

/* A side that was taken over may send byte by byte, for ever. */
static bool receive_rest(int socket, char *bytes, size_t done, size_t length)
{
	gint64 until = g_get_monotonic_time() + KR_MESSAGE_S * G_USEC_PER_SEC;
	ssize_t n;

	while (done < length) {
		if (g_get_monotonic_time() > until)
			return false;
		n = recv(socket, bytes + done, length - done, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

GVariant *kr_wire_receive(int socket, enum kr_wire *kind, int *passed)
{
	struct received first;
	GVariant *body = NULL;
	ssize_t n = receive_first(socket, &first, passed);
	size_t done = (size_t)n - sizeof(first.head);
	char *bytes;

	if (n >= (ssize_t)sizeof(first.head) && first.head.kind < KR_NR_WIRES &&
	    first.head.length <= KR_MESSAGE_BYTES && first.head.length >= done) {
		*kind = first.head.kind;
		/* A message can be empty: no packages. */
		bytes = g_malloc(MAX(first.head.length, 1));
		memcpy(bytes, first.bytes, done);
		if (receive_rest(socket, bytes, done, first.head.length))
			body = g_variant_ref_sink(g_variant_new_from_data(
				G_VARIANT_TYPE(types[*kind]), bytes, first.head.length,
				FALSE, g_free, bytes));
		else
			g_free(bytes);
	}
	if (body && !g_variant_is_normal_form(body))
		g_clear_pointer(&body, g_variant_unref);
	if (!body && passed && *passed >= 0) {
		close(*passed);
		*passed = -1;
	}
	return body;
}

GVariant *kr_wire_bytes(const void *bytes, gsize length)
{
	return g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, bytes, length, 1);
}

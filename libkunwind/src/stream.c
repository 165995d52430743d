// SPDX-License-Identifier: MIT
/* Files of a trace, as Documentation/trace-format.md and CTF 1.8 describe them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "internal.h"
#include "stream.h"

#define MAGIC		0xc1fc1fc1u

struct header {
	uint32_t magic;
	uint32_t stream;
	uint64_t begin;
	uint64_t end;
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t number;
	uint64_t discarded;
	uint32_t cpu;
} __attribute__((packed));

int kunwind_stream_open(struct kunwind_stream *stream, int folder, const char *name,
			uint32_t id, uint32_t cpu)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int ret;

	ret = kunwind_file_take(&stream->file, openat(folder, name, flags, 0600));
	if (ret)
		return ret;
	stream->id = id;
	stream->cpu = cpu;
	stream->used = sizeof(struct header);
	return 0;
}

void kunwind_stream_close(struct kunwind_stream *stream)
{
	kunwind_file_close(&stream->file);
}

static int write_packet(struct kunwind_stream *stream)
{
	size_t done = 0;
	long ret;

	if (!kunwind_file_is_own(&stream->file))
		return -EBADF;
	/* The program may have lowered it since the last packet. */
	if (!kunwind_file_may_have(stream->offset + stream->used))
		return -EFBIG;
	while (done < stream->used) {
		ret = kunwind_syscall(SYS_pwrite64, stream->file.fd, (long)(stream->packet + done),
				      stream->used - done, stream->offset + done);
		if (ret == -EINTR)
			continue;
		if (ret <= 0) {
			/* A part of a packet makes the file unreadable. */
			kunwind_syscall(SYS_ftruncate, stream->file.fd, stream->offset, 0, 0);
			return ret ?: -ENOSPC;
		}
		done += ret;
	}
	return 0;
}

int kunwind_stream_flush(struct kunwind_stream *stream)
{
	struct header header = {
		.magic = MAGIC, .stream = stream->id,
		.begin = stream->begin, .end = stream->end,
		.content_bits = 8 * stream->used, .packet_bits = 8 * stream->used,
		.number = stream->written, .discarded = stream->discarded, .cpu = stream->cpu,
	};
	int ret;

	if (!stream->events)
		return 0;
	memcpy(stream->packet, &header, sizeof(header));
	ret = write_packet(stream);
	if (ret) {
		stream->discarded += stream->events;
		stream->error = stream->error ?: ret;
	} else {
		stream->offset += stream->used;
		stream->written++;
	}
	stream->used = sizeof(header);
	stream->events = 0;
	return ret;
}

void kunwind_stream_event(struct kunwind_stream *stream, uint16_t event, uint64_t time)
{
	if (stream->used + STREAM_EVENT > STREAM_PACKET)
		(void)kunwind_stream_flush(stream);
	if (!stream->events)
		stream->begin = time;
	stream->end = time;
	stream->events++;
	kunwind_stream_put(stream, &event, sizeof(event));
	kunwind_stream_put(stream, &time, sizeof(time));
}

void kunwind_stream_put(struct kunwind_stream *stream, const void *bytes, size_t size)
{
	memcpy(stream->packet + stream->used, bytes, size);
	stream->used += size;
}

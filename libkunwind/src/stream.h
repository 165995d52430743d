/* SPDX-License-Identifier: MIT */
/* A file of a trace: packets of CTF 1.8, whose events one writer at a time adds. */
#ifndef LIBKUNWIND_STREAM_H
#define LIBKUNWIND_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "file.h"

/* Bytes of a packet, and of its largest event. */
#define STREAM_PACKET	(64u << 10)
#define STREAM_EVENT	(16u << 10)

/**
 * struct kunwind_stream - an open file, and its packet that is not written yet
 * @packet: room for STREAM_PACKET bytes
 * @used: bytes of the packet
 * @events: events in the packet
 * @begin: when the packet's first event was, in ns of CLOCK_MONOTONIC
 * @end: when its last event was
 * @discarded: events that were lost until now
 * @written: packets that are written
 * @offset: bytes that are written
 * @file: the file
 * @id: the stream's number in the metadata
 * @cpu: what the packets say of the CPU
 * @error: the first error of a write, a negative errno, or 0
 */
struct kunwind_stream {
	unsigned char *packet;
	size_t used;
	uint64_t events;
	uint64_t begin;
	uint64_t end;
	uint64_t discarded;
	uint64_t written;
	uint64_t offset;
	struct kunwind_file file;
	uint32_t id;
	uint32_t cpu;
	int error;
};

/* Make the file @name in @folder; @stream->packet is set. Return: 0 or a negative errno. */
int kunwind_stream_open(struct kunwind_stream *stream, int folder, const char *name,
			uint32_t id, uint32_t cpu);
void kunwind_stream_close(struct kunwind_stream *stream);

/* What follows is async-signal-safe, and leaves errno alone. */

/* Start an event; the caller adds its fields. @time must not go back. */
void kunwind_stream_event(struct kunwind_stream *stream, uint16_t event, uint64_t time);

/* Add a field of an event, of STREAM_EVENT bytes at most in all. */
void kunwind_stream_put(struct kunwind_stream *stream, const void *bytes, size_t size);

/* Write the packet, if it has events. They are lost if that fails. Return: 0 or -errno. */
int kunwind_stream_flush(struct kunwind_stream *stream);

#endif /* LIBKUNWIND_STREAM_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A trace for Perfetto (sinks/perfetto.proto), compressed: tracks, and what goes on there.
 *
 * Names, frames and callstacks are in it once, and have numbers. Perfetto sorts by time.
 * So an event is written when all of it is known.
 */
#ifndef KR_PACKETS_H
#define KR_PACKETS_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum kr_phase {
	KR_SLICE,
	/* A slice whose end is not in the trace. */
	KR_OPEN_SLICE,
	KR_INSTANT,
};

/**
 * struct kr_drawn - an event of that trace
 * @phase: what it is
 * @name: of it
 * @category: of it
 * @begin: in nanoseconds
 * @end: likewise, of KR_SLICE
 * @track: of kr_packets_track()
 * @stack: of kr_packets_stack(), or 0
 * @args: of kr_args_new(), or NULL
 */
struct kr_drawn {
	enum kr_phase phase;
	const char *name;
	const char *category;
	int64_t begin;
	int64_t end;
	uint64_t track;
	uint32_t stack;
	GArray *args;
};

/* Return: what there is to say of an event: names with texts. */
GArray *kr_args_new(void);
void kr_args_add(GArray *args, const char *name, const char *text);

struct kr_packets;

struct kr_packets *kr_packets_new(void);
void kr_packets_free(struct kr_packets *packets);

/* Say from when times are counted, before the first event. */
void kr_packets_begin(struct kr_packets *packets, int64_t begin);

/* Return: the number of a new track. */
uint64_t kr_packets_track(struct kr_packets *packets);

/* Return: the number of an event's stack; 0 if it has none, or one without frames. */
uint32_t kr_packets_stack(struct kr_packets *packets, const bt_event *event);

/* Return: whether an event had one. */
bool kr_packets_have_stacks(const struct kr_packets *packets);

/*
 * Append an event. On one track, a slice must not begin before another one has ended, and
 * is appended after it.
 */
void kr_packets_append(struct kr_packets *packets, const struct kr_drawn *event);

/* Say which process, or which of its threads, a track is of. */
void kr_packets_process(struct kr_packets *packets, uint64_t track, uint64_t pid,
			const char *name);
void kr_packets_thread(struct kr_packets *packets, uint64_t track, uint64_t pid,
		       uint64_t tid, const char *name);

/* The same for a track of another kind. @parent: the track that it belongs to, or 0 */
void kr_packets_other(struct kr_packets *packets, uint64_t track, uint64_t parent,
		      const char *name, uint64_t rank);

/* Return: what is compressed so far; the caller takes it out. */
GString *kr_packets_so_far(struct kr_packets *packets);

/* Return: likewise; nothing follows. */
GString *kr_packets_end(struct kr_packets *packets);

#endif /* KR_PACKETS_H */

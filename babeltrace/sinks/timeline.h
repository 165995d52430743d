/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What each thread did, one after the other: its stacks with their times. */
#ifndef KR_TIMELINE_H
#define KR_TIMELINE_H

#include <glib.h>
#include <stdint.h>

struct kr_machine;
struct kr_timeline;

/**
 * struct kr_span - a stack, and the time for which it stands
 * @begin: in nanoseconds
 * @end: likewise; the same if nobody knows
 * @kind: of the profile
 * @node: of the profile
 */
struct kr_span {
	int64_t begin;
	int64_t end;
	uint32_t kind;
	uint32_t node;
};

/**
 * struct kr_lane - a thread
 * @machine: on which it runs
 * @pid: its process; -1 if unknown
 * @tid: its number; -1: all of which nobody knows it
 * @spans: struct kr_span, in the order of their begin
 */
struct kr_lane {
	const struct kr_machine *machine;
	int64_t pid;
	int64_t tid;
	GArray *spans;
};

struct kr_timeline *kr_timeline_new(void);
void kr_timeline_free(struct kr_timeline *timeline);

void kr_timeline_add(struct kr_timeline *timeline, const struct kr_machine *machine,
		     int64_t pid, int64_t tid, const struct kr_span *span);

/* Return: struct kr_lane, by machine, process and number; nothing is added afterwards. */
GPtrArray *kr_timeline_lanes(struct kr_timeline *timeline);

/**
 * kr_lane_walk() - cut a thread's time into pieces
 * @lane: the thread
 * @piece: called for each, in order, without a gap. @span is what the thread did, or
 *	   NULL if nobody knows. Of spans within one another it is the one that began
 *	   last. A span without length is a piece without length
 * @data: for @piece
 */
void kr_lane_walk(const struct kr_lane *lane,
		  void (*piece)(void *data, const struct kr_span *span, int64_t begin,
				int64_t end), void *data);

#endif /* KR_TIMELINE_H */

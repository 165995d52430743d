/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The tracks of a picture over time: those of threads, and those of CPUs, with
 * what has begun on each and not ended yet.
 */
#ifndef KR_TRACK_H
#define KR_TRACK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "event.h"
#include "traced_machine.h"

struct kr_packets;

/* Processes of the picture that are none; Linux has none above 2^22. */
#define KR_CPUS		5000000
#define KR_LOSSES	6000000
#define KR_NOBODY	7000000

/**
 * struct kr_activity - something that has begun
 * @name: what; NULL: nothing
 * @category: of it
 * @args: of kr_args_new()
 * @begin: when, in nanoseconds
 * @mark: of struct kr_losses
 * @stack: of kr_packets_stack(), or 0
 */
struct kr_activity {
	char *name;
	const char *category;
	GArray *args;
	int64_t begin;
	uint64_t mark;
	uint32_t stack;
};

/**
 * struct kr_track - a thread or a CPU
 * @key: its number within its trace; that of a CPU is negative
 * @machine: on which it runs
 * @pid: its process in the picture
 * @tid: its number there
 * @name: how it is called now
 * @number: of kr_packets_track()
 * @waits: the same, of the track next to it that has the times when it did not run
 * @waited: there are some
 * @call: the system call that it is in
 * @state: why the thread does not run, or what runs on the CPU
 * @switched: what recorded the CPU's last switch; NULL: it was recorded twice, or is none
 * @from: the thread that the CPU has left last
 * @to: the thread that it went to then
 */
struct kr_track {
	struct kr_thread key;
	const struct kr_machine *machine;
	uint64_t pid;
	uint64_t tid;
	char *name;
	uint64_t number;
	uint64_t waits;
	bool waited;
	struct kr_activity call;
	struct kr_activity state;
	const bt_event_class *switched;
	int64_t from;
	int64_t to;
};

/**
 * struct kr_tracks - all of them
 * @packets: where they are drawn
 * @machines: on which they run
 * @tracks: struct kr_track by struct kr_thread
 * @losses: what was lost so far
 */
struct kr_tracks {
	struct kr_packets *packets;
	struct kr_machines *machines;
	GHashTable *tracks;
	struct kr_losses losses;
};

void kr_tracks_init(struct kr_tracks *tracks, struct kr_packets *packets);
void kr_tracks_destroy(struct kr_tracks *tracks);

/* Return: the track of a thread that was met before, or NULL. */
struct kr_track *kr_track_find(const struct kr_tracks *tracks,
			       const bt_trace *trace, int64_t tid);

/* Return: the track of the thread that an event is of. */
struct kr_track *kr_track_of_event(struct kr_tracks *tracks,
				   const struct kr_event *event);

/* Return: that of a CPU, or of -1, in one of the processes that are none. */
struct kr_track *kr_track_of_cpu(struct kr_tracks *tracks, const bt_trace *trace,
				 int64_t cpu, uint64_t process);

/* Return: that of what was lost of a stream. */
struct kr_track *kr_track_of_loss(struct kr_tracks *tracks, const struct kr_loss *loss);

void kr_track_set_name(struct kr_track *track, const char *name);

void kr_activity_begin(const struct kr_tracks *tracks,
		       struct kr_activity *activity, const char *name,
		       const char *category, int64_t now);

/* Draw it; if events were lost since it began, as an instant. */
void kr_activity_end(const struct kr_tracks *tracks, struct kr_track *track,
		     struct kr_activity *activity, int64_t now);

/* Draw it as an instant: no more is known, or it has no end. @why: or NULL. */
void kr_activity_cut(const struct kr_tracks *tracks, struct kr_track *track,
		     struct kr_activity *activity, const char *why);

/* Draw what has not ended, and the names of all tracks. */
void kr_tracks_end(struct kr_tracks *tracks);

#endif /* KR_TRACK_H */

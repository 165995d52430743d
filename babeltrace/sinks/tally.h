/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which stacks there are, how many events each has, and how long system calls took from
 * their entry to their exit.
 */
#ifndef KR_TALLY_H
#define KR_TALLY_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "event.h"

struct kr_profile;
struct kr_sink;

/**
 * struct kr_tally - what was counted
 * @sink: which tells what is wanted
 * @names_threads: a process is called by its thread, too
 * @profile: the stacks
 * @timeline: when they were; or NULL
 * @machines: where they were recorded
 * @waits: of threads that are off the CPU
 * @calls: struct call of each thread that is in one, by struct kr_thread
 * @threads: struct kr_thread of all
 * @name: scratch
 * @losses: what was lost so far
 * @lost: events that were
 * @lost_packets: packets that were
 * @events: all of them
 * @bare: those without a stack
 * @bare_switches: sched_switch and sched_waking without a stack
 * @switches_have_stacks: others of these have one
 * @nobodys: system calls without a thread
 * @endless: those whose exit is not in the trace
 * @unsure: those during which events were lost, and such waits
 */
struct kr_tally {
	const struct kr_sink *sink;
	bool names_threads;
	struct kr_profile *profile;
	struct kr_timeline *timeline;
	struct kr_machines *machines;
	struct kr_waits *waits;
	GHashTable *calls;
	GHashTable *threads;
	GString *name;
	struct kr_losses losses;
	uint64_t lost;
	uint64_t lost_packets;
	uint64_t events;
	uint64_t bare;
	uint64_t bare_switches;
	bool switches_have_stacks;
	uint64_t nobodys;
	uint64_t endless;
	uint64_t unsure;
};

/* @tally: zeroed memory */
void kr_tally_init(struct kr_tally *tally, const struct kr_sink *sink);
void kr_tally_destroy(struct kr_tally *tally);

void kr_tally_take(struct kr_tally *tally, const bt_message *message);

/* All of a trace was taken, or as much as can be. */
void kr_tally_finish(struct kr_tally *tally);

/* What comes now is another trace. Return: the profile of the one before. */
struct kr_profile *kr_tally_turn(struct kr_tally *tally);

#endif /* KR_TALLY_H */

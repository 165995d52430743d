/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program and its shadow stack: the walk is compared at each instruction. */
#ifndef STEPS_ORACLE_H
#define STEPS_ORACLE_H

#include "proc_maps.h"
#include "tally.h"
#include "view.h"
#include "walk.h"

/**
 * struct oracle - one run
 * @every: every how many instructions the walk is compared
 * @max: instructions after which the program is killed, or 0
 * @skip: system calls to run at full speed first; the shadow stack then begins
 *	with libdw's frames
 * @open: it begins with none: what is on the stack then is not known
 * @thread: the number of the thread to follow, in the order in which the main
 *	thread starts them; 0 is itself
 * @after: milliseconds to run at full speed first; implies @open
 * @ends: functions where stacks that the program makes end
 * @nr_ends: how many
 * @steps: instructions executed
 * @checked: instructions at which the walk was compared
 * @own: of these, on or above a stack that the program made
 * @lost: instructions at which rsp was on one stack too many
 * @execs: programs begun
 * @alt: of a program for i386, the alternate stack of its signals
 */
struct oracle {
	u64 every;
	u64 max;
	u64 skip;
	bool open;
	u32 thread;
	u32 after;
	const char *ends[8];
	u32 nr_ends;
	u64 steps;
	u64 checked;
	u64 own;
	u64 lost;
	u32 execs;
	struct shadow_stack alt;

	struct tracee tracee;
	struct shadow shadow;
	struct view view;
	struct maps maps;
	struct host_cache cache;
	struct peer peer;
	struct tally tally;
	u64 frames[KUNWIND_MAX_FRAMES];
	u64 peer_frames[KUNWIND_MAX_FRAMES + 1];
	u64 peer_sps[KUNWIND_MAX_FRAMES + 1];
};

/* Run a program to its end. Return: 0, or a negative errno if it cannot. */
int oracle_run(struct oracle *o, char **argv);
void oracle_free(struct oracle *o);

#endif /* STEPS_ORACLE_H */

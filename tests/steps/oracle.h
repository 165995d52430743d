/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program beside its shadow stack, and the walk compared at each instruction. */
#ifndef STEPS_ORACLE_H
#define STEPS_ORACLE_H

#include "maps.h"
#include "tally.h"
#include "view.h"
#include "walk.h"

/**
 * struct oracle - one run
 * @every: every how many instructions the walk is compared
 * @max: instructions after which the program is killed, or 0
 * @skip: system calls to run at full speed first; the shadow stack then begins
 *	with libdw's frames
 * @steps: instructions executed
 * @checked: instructions at which the walk was compared
 * @lost: instructions on a stack that the shadow stack does not know
 * @execs: programs begun
 */
struct oracle {
	u64 every;
	u64 max;
	u64 skip;
	u64 steps;
	u64 checked;
	u64 lost;
	u32 execs;

	struct tracee tracee;
	struct shadow shadow;
	struct view view;
	struct maps maps;
	struct host_memo memo;
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

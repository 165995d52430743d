/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Disagreements, counted by where the walk took the first wrong step. */
#ifndef STEPS_TALLY_H
#define STEPS_TALLY_H

#include "peer.h"

/* How a walk differs from the shadow stack. */
enum kind {
	KIND_RIGHT,
	KIND_SHORT,	/* it stopped early */
	KIND_WRONG,	/* a frame is another one */
	KIND_WRONG_GUESS,	/* and the walk said that it is a guess */
	KIND_REPLACED,	/* the program overwrote a return address before it */
	KIND_LONG,	/* it goes on behind the outermost frame */
	KIND_END,	/* all frames are right, and it does not know the end */
	KIND_CUT,	/* it is COMPLETE where the stack does not end */
	KIND_GUESS,	/* all is right, but by a step without a rule */
	KIND_OWN_END,	/* COMPLETE at the end of a stack of the program's own */
	NR_KINDS
};

/* What libdw says of the same instruction. */
enum verdict {
	VERDICT_SAME,	/* wrong in the same way */
	VERDICT_WRONG,	/* wrong in another way */
	VERDICT_RIGHT,
	NR_VERDICTS
};

/**
 * struct finding - one disagreement
 * @kind: enum kind
 * @stop: enum kunwind_stop of the walk
 * @verdict: enum verdict
 * @judged: there is a verdict
 * @no_rule: .eh_frame says nothing of the frame's code, by libdw
 * @place: of the frame whose caller is not right
 * @depth: its number, 0 being the innermost
 * @number: of the instruction
 * @want: the caller's address by the shadow stack, 0 if there is none
 * @got: by the walk, 0 if there is none
 */
struct finding {
	enum kind kind;
	u32 stop;
	enum verdict verdict;
	bool judged;
	bool no_rule;
	struct place place;
	u32 depth;
	u64 number;
	u64 want;
	u64 got;
};

/**
 * struct row - findings of one kind in one function
 * @first: the first of them
 * @count: how many
 * @lo: the lowest offset
 * @hi: the highest offset
 * @sites: how many addresses
 * @verdicts: by verdict
 */
struct row {
	struct finding first;
	u64 count;
	u64 lo;
	u64 hi;
	u32 sites;
	u64 verdicts[NR_VERDICTS];
};

struct site {
	u64 vaddr;
	u32 row;
	u32 judged;
};

struct tally {
	struct row *rows;
	u32 nr_rows;
	struct site *sites;
	u32 nr_sites;
};

/* Return: whether it is worth a verdict: few like it have one. */
bool tally_wants_verdict(const struct tally *t, const struct finding *f);
void tally_add(struct tally *t, const struct finding *f);

/* Return: how many findings disagree: the last two kinds do not. */
u64 tally_disagreements(const struct tally *t);

/* Return: how many findings are of that kind. */
u64 tally_count(const struct tally *t, enum kind kind);

/*
 * Return: rows of stacks that are COMPLETE and are not, and of disagreements that
 * libdw does not share where .eh_frame has a rule.
 */
u32 tally_unexplained(const struct tally *t);

/* The most frequent rows first, not all of them if they are many. */
void tally_print(struct tally *t);
void tally_free(struct tally *t);

#endif /* STEPS_TALLY_H */

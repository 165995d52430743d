/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A profile with fewer frames: those of little weight become one. */
#ifndef KR_PRUNE_H
#define KR_PRUNE_H

#include "profile.h"

struct kr_sums;

/* Return: what all nodes and names weigh, with all above them. */
struct kr_sums *kr_sums_of(const struct kr_profile *profile);
void kr_sums_free(struct kr_sums *sums);

/* Return: how many nodes are at least this part of all events, or of all time. */
uint64_t kr_sums_heavier(const struct kr_sums *sums, double least);

/**
 * kr_prune() - a copy of a profile
 * @profile: which
 * @sums: of it
 * @least: a frame that is a smaller part of all events and of all time is drawn
 *	   with its like as "[smaller]"; so are processes and events
 *
 * Return: a profile with the same totals, and a note of what became smaller.
 */
struct kr_profile *kr_prune(const struct kr_profile *profile,
			    const struct kr_sums *sums, double least);

#endif /* KR_PRUNE_H */

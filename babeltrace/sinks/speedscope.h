/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Threads over time for speedscope. */
#ifndef KR_SPEEDSCOPE_H
#define KR_SPEEDSCOPE_H

#include "profile.h"

struct kr_timeline;

/**
 * kr_speedscope() - speedscope's file format: a profile for each thread
 * @profile: the stacks of @timeline, with names
 * @timeline: what the threads did
 * @what: KR_NS: stacks for as long as they lasted, and between them nothing; KR_EVENTS:
 *	  one stack after the other, all of the same length
 */
GString *kr_speedscope(const struct kr_profile *profile, struct kr_timeline *timeline,
		       enum kr_weight what);

#endif /* KR_SPEEDSCOPE_H */

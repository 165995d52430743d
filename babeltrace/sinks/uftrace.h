/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Entries and exits of functions for uftrace, derived from stacks. */
#ifndef KR_UFTRACE_H
#define KR_UFTRACE_H

#include "output.h"
#include "profile.h"

struct kr_timeline;

/**
 * kr_uftrace() - write a folder that uftrace reads
 * @output: the folder
 * @profile: the stacks of @timeline, with names
 * @timeline: what the threads did
 *
 * Return: false, with errno, if it cannot be written.
 */
bool kr_uftrace(const struct kr_output *output, const struct kr_profile *profile,
		struct kr_timeline *timeline);

#endif /* KR_UFTRACE_H */

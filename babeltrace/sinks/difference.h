/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What became slower from one profile to another. */
#ifndef KR_DIFFERENCE_H
#define KR_DIFFERENCE_H

#include "screen.h"

/*
 * Return: functions with what they cost before and after, as text for people. What is a
 * larger part of all than before comes first: two recordings seldom last equally long.
 */
GString *kr_difference(const struct kr_profile *before, const struct kr_profile *after,
		       const struct kr_screen *screen);

#endif /* KR_DIFFERENCE_H */

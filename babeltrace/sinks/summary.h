/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A profile as text for people: one screen, or a table of functions. */
#ifndef KR_SUMMARY_H
#define KR_SUMMARY_H

#include "profile.h"
#include "screen.h"

/* Return: how many events of each kind, how long, and the stacks that cost most. */
GString *kr_summary(const struct kr_profile *profile, const struct kr_screen *screen);

/* Return: the functions that cost most, with what they call and by themselves. */
GString *kr_top(const struct kr_profile *profile, const struct kr_screen *screen);

#endif /* KR_SUMMARY_H */

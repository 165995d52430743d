/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A profile as text for people: one screen, or a table of functions. */
#ifndef KR_SUMMARY_H
#define KR_SUMMARY_H

#include "format.h"
#include "profile.h"

/**
 * struct kr_screen - where a text is read
 * @columns: longer lines are cut; 0: none is
 * @rows: how many lines there may be, about
 * @max_stack: how many frames of a stack are shown; 0: as many as there is room for
 * @colors: of the text
 */
struct kr_screen {
	unsigned int columns;
	unsigned int rows;
	unsigned int max_stack;
	const struct kr_colors *colors;
};

/* Return: how many events of each kind, how long, and the stacks that cost most. */
GString *kr_summary(const struct kr_profile *profile, const struct kr_screen *screen);

/* Return: the functions that cost most, with what they call and by themselves. */
GString *kr_top(const struct kr_profile *profile, const struct kr_screen *screen);

#endif /* KR_SUMMARY_H */

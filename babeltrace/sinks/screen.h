/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Lines of a text for people, and what of a profile stands in them. */
#ifndef KR_SCREEN_H
#define KR_SCREEN_H

#include "format.h"
#include "profile.h"

/**
 * struct kr_screen - where a text is read
 * @columns: longer lines are cut; 0: none is
 * @rows: how many lines there may be, about; 0: as many as there are
 * @max_stack: how many frames of a stack are shown; 0: as many as there is room for
 * @colors: of the text
 */
struct kr_screen {
	unsigned int columns;
	unsigned int rows;
	unsigned int max_stack;
	const struct kr_colors *colors;
};

/* Append a line, of which no more than fits is shown. */
void kr_screen_line(GString *to, const struct kr_screen *screen, const char *line);

/* Return: how many of @n lines of a list there is room for: all of them, or one at least. */
unsigned int kr_screen_fit(const struct kr_screen *screen, unsigned int n);

/* Append a time in 10 columns, with three digits or more. */
void kr_append_ns(GString *to, uint64_t ns);

/* Append a time, or a number, in 10 columns. */
void kr_append_cost(GString *to, enum kr_weight what, uint64_t cost);

/* Append the first part of a name: a function, a process or an event. */
void kr_append_first(GString *to, const char *name);

/* Append a frame's function and module, as the text of a stack has them. */
void kr_append_function(GString *to, const struct kr_screen *screen, const char *name);

double kr_percent(uint64_t part, uint64_t all);

#endif /* KR_SCREEN_H */

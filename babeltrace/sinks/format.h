/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Fields and frames as text. */
#ifndef KR_FORMAT_H
#define KR_FORMAT_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

struct kr_stack;
struct kr_stack_frame;

/* Colours of a terminal, or empty strings. */
struct kr_colors {
	const char *time;
	const char *task;
	const char *name;
	const char *error;
	const char *function;
	const char *module;
	const char *source;
	const char *off;
};

/* Return: the colours, or none. */
const struct kr_colors *kr_colors(bool colored);

/* Append the value of a field. */
void kr_format_field(GString *to, const bt_field *field);

/* Append "name = value, ..." of a structure, but not of the member @but. */
void kr_format_members(GString *to, const bt_field *structure, const char *but);

/* Append what a system call returned: an error with its name. */
void kr_format_result(GString *to, const bt_field *result,
		      const struct kr_colors *colors);

/* Append a frame: function, module, source. */
void kr_format_frame(GString *to, const struct kr_stack_frame *frame,
		     const struct kr_colors *colors);

/* Append a stack: a line a frame, and one that says why it ends early. */
void kr_format_stack(GString *to, const struct kr_stack *stack,
		     const struct kr_colors *colors);

#endif /* KR_FORMAT_H */

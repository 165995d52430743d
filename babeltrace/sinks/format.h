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

/* Append "name = value, ..." of a structure. */
void kr_format_members(GString *to, const bt_field *structure);

/* Return: whether a field is a number. */
bool kr_number_of(const bt_field *field, int64_t *value);

/* Append it in hexadecimal if it looks like a pointer. Return: whether it does. */
bool kr_format_pointer(GString *to, const bt_field *field);

/* Return: the error that a system call returned; 0 if it returned none. */
int kr_result_errno(const bt_field *result);

/* Append what a system call returned: an error with its name. */
void kr_format_result(GString *to, const bt_field *result,
		      const struct kr_colors *colors);

/* Append a frame: function, module, source. */
void kr_format_frame(GString *to, const struct kr_stack_frame *frame,
		     const struct kr_colors *colors);

/* Return: whether a function has the name of its module, as in "ls!0x6100". */
bool kr_names_module(const char *function, const char *module);

/*
 * Append a stack: a line a frame, and one that says why it ends early. @most: frames
 * that are shown; 0: all
 */
void kr_format_stack(GString *to, const struct kr_stack *stack,
		     const struct kr_colors *colors, unsigned int most);

#endif /* KR_FORMAT_H */

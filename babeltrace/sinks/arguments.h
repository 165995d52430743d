/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Arguments of system calls, with the words that programmers write for them. */
#ifndef KR_ARGUMENTS_H
#define KR_ARGUMENTS_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>

/**
 * kr_format_arguments() - append "name = value, ..." of a system call
 * @call: its name
 * @payload: of its entry or exit
 * @shown: the payload's class of the entry, if that was shown: what has a name of its
 *	   own there is left out; or NULL
 *
 * The result is left out, too.
 */
void kr_format_arguments(GString *to, const char *call, const bt_field *payload,
			 const bt_field_class *shown);

#endif /* KR_ARGUMENTS_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Names and paths of a trace and of files are others' bytes: on their way to a
 * terminal, what it would act on is escaped.
 */
#ifndef KR_SAFE_H
#define KR_SAFE_H

#include <glib.h>

/* Append a string: control characters as \xNN, bytes that are not UTF-8 too. */
void kr_safe_append(GString *to, const char *string);

/* The same between double quotes, as C writes it. */
void kr_safe_append_quoted(GString *to, const char *string);

#endif /* KR_SAFE_H */

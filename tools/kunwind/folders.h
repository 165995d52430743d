/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where below a folder traces are. */
#ifndef KC_FOLDERS_H
#define KC_FOLDERS_H

#include <glib.h>
#include <sys/types.h>

/* Return: a path without links, for g_free(); itself if there is nothing. */
char *kc_real_path(const char *path);

/* Return: their folders, sorted; NULL if there is none, and that was said. */
GPtrArray *kc_find_traces(const char *folder);

/*
 * Return: what 'kunwind trace' has put next to a trace, or above it up to @top, under this
 * name, for g_free(); NULL if there is none. @type: S_IFREG or S_IFDIR. What is of another
 * type, or a link, is not used, and that is said.
 */
char *kc_find_beside(const char *top, const char *trace, const char *name, mode_t type);

#endif /* KC_FOLDERS_H */

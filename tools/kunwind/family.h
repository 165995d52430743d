/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A process, and all that descend from it. */
#ifndef KC_FAMILY_H
#define KC_FAMILY_H

#include <glib.h>

/* Return: their numbers, each an int, the process's own first; for g_array_unref(). */
GArray *kc_family(int pid);

#endif /* KC_FAMILY_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What can be read of a trace that is damaged. */
#ifndef KC_SALVAGE_H
#define KC_SALVAGE_H

#include <signal.h>

/**
 * kc_salvage() - what of a trace babeltrace2 can read, where it would read nothing
 * @folder: the trace
 * @stop: not 0 once a signal has come, which ends this early
 *
 * Says what is missing, and what fails.
 *
 * Return: a temporary folder with the rest, for kc_salvage_remove(); NULL if
 * nothing is known to be wrong, or nothing can be done.
 */
char *kc_salvage(const char *folder, const volatile sig_atomic_t *stop);

/* Remove it, and free its name. */
void kc_salvage_remove(char *folder);

#endif /* KC_SALVAGE_H */

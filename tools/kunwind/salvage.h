/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What can be read of a trace that is damaged. */
#ifndef KC_SALVAGE_H
#define KC_SALVAGE_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct kc_size - what is known of a file, in bytes
 * @whole: its length
 * @data: without its holes, which cost its owner nothing
 * @usable: of how many bytes there are whole packets
 * @hidden: its index is left out
 */
struct kc_size {
	uint64_t whole;
	uint64_t data;
	uint64_t usable;
	bool hidden;
};

/**
 * struct kc_salvage - what is done with damaged traces
 * @hidden: files that are left out, as a set of paths
 * @sizes: set to the size of each file, a struct kc_size by its path
 * @packets: how many were looked at, to be 0 before the first trace
 * @shorter: set if a file has become shorter since @sizes was set
 * @silent: what is missing was said before
 * @stop: not 0 once a signal has come, which ends this early
 */
struct kc_salvage {
	GHashTable *hidden;
	GHashTable *sizes;
	unsigned int packets;
	bool shorter;
	bool silent;
	const volatile sig_atomic_t *stop;
};

/**
 * kc_salvage() - what of a trace babeltrace2 can read, where it would read nothing
 * @folder: the trace
 * @how: what is left out
 *
 * Says what is missing, and what fails.
 *
 * Return: a temporary folder with the rest, for kc_salvage_remove(); NULL if
 * nothing is known to be wrong, or nothing can be done.
 */
char *kc_salvage(const char *folder, struct kc_salvage *how);

/* Remove it, and free its name. */
void kc_salvage_remove(char *folder);

#endif /* KC_SALVAGE_H */

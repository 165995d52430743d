/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The processes and threads that the user of `kunwind stack` has chosen. */
#ifndef KC_CHOSEN_H
#define KC_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct kc_threads;

/**
 * struct kc_chosen - which processes and threads
 * @all: all processes that this user may trace
 * @name: those of this name; or NULL
 * @ids: PIDs and TIDs, as the user gave them
 * @nr_ids: how many
 */
struct kc_chosen {
	bool all;
	const char *name;
	char **ids;
	size_t nr_ids;
};

/* Return: the PID or TID that @text is; 0 if it is none. */
pid_t kc_number_of(const char *text);

/* Show them. What is not there, or may not be seen, is said, and @threads->failed. */
void kc_chosen_show(const struct kc_chosen *chosen, struct kc_threads *threads);

#endif /* KC_CHOSEN_H */

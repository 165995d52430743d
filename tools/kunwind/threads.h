/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The stacks of a process's threads, as kunwind stack shows them. */
#ifndef KC_THREADS_H
#define KC_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct json_t;
struct kr_modules;
struct kr_notes;
struct kunwind_bt;
struct kunwind_handle;

/**
 * struct kc_threads - what showing needs, and what it has found
 * @handle: of the device
 * @bt: room for a stack
 * @kernel: show the kernel's part, too
 * @notes: about names
 * @modules: of the processes that see the same files as this one
 * @processes: an array of JSON that processes are added to; NULL: they are printed
 * @shown: threads whose stack was shown
 * @failed: something that was asked for is missing
 * @kernel_refused: this user may not see the kernel's part of a stack
 */
struct kc_threads {
	struct kunwind_handle *handle;
	struct kunwind_bt *bt;
	bool kernel;
	struct kr_notes *notes;
	struct kr_modules *modules;
	struct json_t *processes;
	size_t shown;
	bool failed;
	bool kernel_refused;
};

/* Show the thread @only, or all if it is 0. Return: 0; a negative errno if there are none. */
int kc_threads_show(struct kc_threads *t, pid_t pid, pid_t only);

#endif /* KC_THREADS_H */

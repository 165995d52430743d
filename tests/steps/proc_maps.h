/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The address map of the program, made anew when its mappings change. */
#ifndef STEPS_PROC_MAPS_H
#define STEPS_PROC_MAPS_H

#include "load.h"

/**
 * struct maps - the address map
 * @space: the map, with its tables
 * @text: the lines of /proc/PID/maps that it was made from
 * @number: of the map; changes with it
 */
struct maps {
	struct host_space space;
	char *text;
	u64 number;
};

/* Look whether executable mappings have changed, and if so make the map anew.
 * Return: 1 if it is another map now, 0 if not, or a negative errno.
 */
int maps_update(struct maps *m, pid_t pid);
void maps_free(struct maps *m);

/* Return: whether a mapping of @pid holds @addr; it goes from *@lo to *@hi. */
bool maps_find(pid_t pid, u64 addr, u64 *lo, u64 *hi);

#endif /* STEPS_PROC_MAPS_H */

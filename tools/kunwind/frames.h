/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The frames of a live process, with names. */
#ifndef KC_FRAMES_H
#define KC_FRAMES_H

#include <sys/types.h>

struct json_t;
struct kc_maps;
struct kr_modules;
struct kunwind_bt;

/* A new round: what maps of all processes may take counts from here. */
void kc_maps_begin(void);

/*
 * Where frames find names: the executable mappings of a process, as they are when this is
 * made, and the files that it sees, below @root; "" if it sees the same as this process.
 * What cannot be read in time is missing, which is said.
 * Return: NULL, with errno, if there is no such process, or if it may not be read.
 */
struct kc_maps *kc_maps_new(pid_t pid, const char *root, struct kr_modules *modules);
void kc_maps_free(struct kc_maps *maps);

void kc_frames_print(const struct kunwind_bt *bt, struct kc_maps *maps);
/* Return: a JSON array. */
struct json_t *kc_frames_json(const struct kunwind_bt *bt, struct kc_maps *maps);

#endif /* KC_FRAMES_H */

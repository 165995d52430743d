/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The files that the symbolizer has open, with elfutils, and the memory that they may take. Which
 * are open at a time is a matter of budgets: the last used stay.
 */
#ifndef KR_OPENED_H
#define KR_OPENED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "place.h"

struct kr_opened;

/* Set this process's limits. @keeper: the socket of who finds debug information. */
void kr_opened_begin(int keeper);

/* Return: whether file @number, whose descriptor it takes, can be read. */
bool kr_opened_add(uint32_t number, const char *path, GBytes *id, int fd);

/* Return: the file, which stays open until the next call; NULL if it is not open. */
struct kr_opened *kr_opened_use(uint32_t number);

/* Return: what is at an offset of the file, as kr_debug_look(); NULL if nothing is. */
struct kr_place *kr_opened_look(struct kr_opened *file, GStringChunk *strings, uint64_t offset,
				bool call);

#endif /* KR_OPENED_H */

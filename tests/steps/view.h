/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The program's stacks as the walk reads them: a copy in this program, at a
 * constant distance, presented through the port's window. Pages of files' code are copied once.
 */
#ifndef STEPS_VIEW_H
#define STEPS_VIEW_H

#include "shadow.h"
#include "tracee.h"

struct maps;

/**
 * struct view - a copy of stacks
 * @maps: tells where files' code is
 * @mirror: where it is in this program
 * @lo: the first address it has room for; most of it is never touched
 * @hi: the first address behind
 */
struct view {
	const struct maps *maps;
	u8 *mirror;
	u64 lo;
	u64 hi;
};

/*
 * Copy what the last instruction may have changed: the words around the stack
 * pointer. Those far above were copied when it was there.
 *
 * Return: false if there is no room for these stacks.
 */
bool view_near(struct view *v, const struct tracee *t, const struct shadow *s);

/* Copy all of every stack. */
bool view_all(struct view *v, const struct tracee *t, const struct shadow *s);

void view_free(struct view *v);

#endif /* STEPS_VIEW_H */

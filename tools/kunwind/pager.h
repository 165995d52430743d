/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program that shows a long text on the terminal, page by page. */
#ifndef KC_PAGER_H
#define KC_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

/* @terminal: the standard output as it was; @pid: 0 if there is no pager. */
struct kc_pager {
	int terminal;
	pid_t pid;
};

/*
 * If the standard output is a terminal, make it a pager's input: of $PAGER, or less.
 * *@color is settled as long as that can be seen.
 * @raw: the text has what a terminal would act on: without a pager, that is escaped
 * Return: false, with errno, if @raw text would go to the terminal as it is.
 */
bool kc_pager_begin(struct kc_pager *pager, const char **color, bool raw);

/* Wait until the user has read it. */
void kc_pager_end(struct kc_pager *pager);

#endif /* KC_PAGER_H */

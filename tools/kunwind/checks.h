/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What must be right before there are stacks. */
#ifndef KC_CHECKS_H
#define KC_CHECKS_H

#include <glib.h>
#include <stdbool.h>

/**
 * struct kc_check - one thing that was looked at
 * @what: its name
 * @found: how it is
 * @todo: what to do about it, a command where there is one; or NULL
 */
struct kc_check {
	const char *what;
	char *found;
	char *todo;
};

/* Look at the machine whose files are below a folder, "" for this one. Return: the checks. */
GPtrArray *kc_checks(const char *root);

/* Return: whether a kernel module, named as in /sys/module, is loaded there. */
bool kc_is_loaded(const char *root, const char *module);

/* Return: what a file has, without white space at its end; NULL if it cannot be read. */
char *kc_read(const char *root, const char *path);

#endif /* KC_CHECKS_H */

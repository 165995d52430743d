/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The process that becomes the command that is recorded.
 *
 * LTTng's process tracker does not follow forks. So the command gets a UTS namespace and
 * a time namespace of its own. Nothing looks different in them, and each child is in
 * both. A child can leave one: container runtimes make a new UTS namespace. LTTng's
 * contexts uts_ns and time_ns filter in the kernel.
 */
#ifndef KC_CHILD_H
#define KC_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "control.h"

/**
 * struct kc_child - the process that becomes the command
 * @path: the program, as execv() takes it
 * @command: its arguments, as execv() takes them
 * @gives_way: its output goes where errors go, as the view is printed to a file or a pipe
 * @signals: the mask that it begins with
 * @control: what it asks to be recorded by
 * @pid: its number
 * @go: it may go on, in memory that it shares with this process
 */
struct kc_child {
	const char *path;
	char *const *command;
	bool gives_way;
	const sigset_t *signals;
	const struct kc_control *control;
	pid_t pid;
	volatile bool *go;
};

/* It waits for kc_child_let_go(). Return: whether there is one; if not, that was said. */
bool kc_child_fork(struct kc_child *child);
void kc_child_let_go(const struct kc_child *child);

/* Return: a filter for what is in the child's own namespaces; NULL if it has none. */
char *kc_child_filter(const struct kc_child *child);

#endif /* KC_CHILD_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The process that a session records for. The session's name says which one it is. */
#ifndef KC_OWNER_H
#define KC_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* Return: the name of this process's session, for g_free(). No other process has it. */
char *kc_owner_name(void);

/* Return: whether a session's name is one of these, and its process is gone for certain. */
bool kc_owner_is_gone(const char *session);

/**
 * kc_owner_watch() - end a session when its process ends without having done so
 * @session: its name
 *
 * A child waits for that, SIGKILL included. It must be started with signals held.
 *
 * Return: what kc_owner_unwatch() takes; -1 if there is no child.
 */
int kc_owner_watch(const char *session);

/* @ended: the session has ended, so the child has nothing to do. If not, it tries to end it. */
void kc_owner_unwatch(int watched, bool ended);

#endif /* KC_OWNER_H */

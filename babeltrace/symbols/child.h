/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The symbolizer's process. It has no file, no terminal and no privilege of its parent, and ends
 * with it.
 */
#ifndef KR_CHILD_H
#define KR_CHILD_H

#include <sys/types.h>

/* Start one. *@socket: set to the parent's end. Return: its process; -1 and errno. */
pid_t kr_child_start(int *socket);

/* End it, and close the socket. It may have ended already. */
void kr_child_end(pid_t pid, int socket);

#endif /* KR_CHILD_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a process gives up before it looks at bytes of others. */
#ifndef KR_SANDBOX_H
#define KR_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Keep one descriptor, and no other. A pipe's reader, such as a pager, would wait for this
 * process. It has no terminal either: a process that was taken over could type there.
 * Return: the descriptor's number, which is none of the three standard ones.
 */
int kr_sandbox_keep(int fd);

/**
 * kr_sandbox_enter() - keep what is open, for ever
 * @readable: files, and folders, what is below which can be read, too, if no part of the
 *	path is a symbolic link; NULL ends them, and is none, of which nothing that is open
 *	is written but sockets
 *
 * No privileges are left, and no other files, processes or machines. Landlock and seccomp
 * are left out where the kernel does not have them.
 *
 * Return: false if the kernel refuses what it has; the process must end then.
 */
bool kr_sandbox_enter(const char *const *readable);

/* @bytes: of private memory. @seconds: of processor time. */
struct kr_limits {
	uint64_t bytes;
	uint64_t seconds;
};

/* Limit this process, which can raise its limits later up to @ever. */
void kr_sandbox_limit(const struct kr_limits *now, const struct kr_limits *ever);

#endif /* KR_SANDBOX_H */

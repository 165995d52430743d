/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a process gives up before it looks at bytes of others. */
#ifndef KR_SANDBOX_H
#define KR_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Keep what is open, and nothing else: no privileges, no other files, processes or
 * machines. There is no way back. Landlock is left out where the kernel does not have it.
 *
 * Return: false if the kernel refuses what every kernel has; the process must end then.
 */
bool kr_sandbox_enter(void);

/* Limit private memory, and processor time. */
void kr_sandbox_limit(uint64_t bytes, uint64_t seconds);

#endif /* KR_SANDBOX_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A function that traps, and a handler that asks and goes on behind the trap. */
#ifndef HARD_TRAP_H
#define HARD_TRAP_H

#include "hard.h"

FRAME static void handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	ask();
	skip_ud2(context);
}

FRAME static void victim(void)
{
	__asm__ volatile("ud2");
}

#endif /* HARD_TRAP_H */

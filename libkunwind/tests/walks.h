/* SPDX-License-Identifier: MIT */
/* What the files of the walks programs share; to be included first. */
#ifndef KUNWIND_WALKS_H
#define KUNWIND_WALKS_H

#if defined(UNOPTIMISED) && defined(__clang__)
#pragma clang optimize off
#elif defined(UNOPTIMISED)
#pragma GCC optimize("O0")
#endif

#include "live.h"
#include "tap.h"

/* Where the main thread takes its stacks. */
extern struct live_stacks *stacks;

/* Keeps what is behind it from becoming a jump, and values from being known. */
extern volatile int sink;

void test_signals(void);

#endif /* KUNWIND_WALKS_H */

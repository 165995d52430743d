/* SPDX-License-Identifier: MIT */
/*
 * Storms: what programs do to their address spaces, over and over, while they look
 * at their own stacks. Each stack is compared with the calls that were made, which
 * the program notes itself (live.h), and with libunwind's.
 */
#ifndef KUNWIND_STORM_H
#define KUNWIND_STORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "live.h"

/* Of one storm and of all processes that it starts. */
struct tally {
	atomic_ulong rounds;
	atomic_ulong stacks;
	atomic_ulong compared;		/* with libunwind's */
	atomic_ulong reused;		/* code where other code was a moment ago */
	atomic_ulong wrong;		/* a frame that is none */
	atomic_ulong unlike_libunwind;	/* true, but libunwind says another one */
	atomic_ulong incomplete[KUNWIND_NR_STOPS];
	atomic_ulong errors;		/* the storm itself */
};

extern struct tally *tally;

/* Whether libunwind can know the code on the stack: not if it was moved by hand. */
enum peer { PEER_ASKED, PEER_BLIND };

/* Take a stack from here on outwards, and judge it. Before: CALLED(). */
void look(enum live_bottom bottom, enum peer peer, const char *where);

/* In a process that has just come out of fork() or that is new. */
void look_again(void);

/* A number below @below. */
unsigned int chance(unsigned int below);

/* Say what went wrong, with errno, and count it. */
void trouble(const char *what);

/* Run this program anew, as a check of one stack; @path: a copy of it, or NULL. */
void become_check(const char *path) __attribute__((noreturn));

/* The processes' status is 0, or that is trouble. */
void reap(int pid, const char *what);

/* The libraries libvariant*.so next to the program. */
#define NR_VARIANTS	6

typedef void (*variant_fn)(const struct live_calls *calls,
			   struct live_stacks *stacks);

const char *variant_path(unsigned int number);
const struct live_calls *look_calls(enum live_bottom bottom, enum peer peer,
				    const char *where);

/* The storms; each is one round. */
void storm_fork(void);
void storm_vfork(void);
void storm_spawn(void);
void storm_threads(void);
void storm_dlopen(void);
void storm_mmap(void);
void storm_mprotect(void);
void storm_mremap(void);
void storm_replace(void);
void storm_memfd(void);
void storm_deleted(void);
void storm_namespaces(void);
void storm_fuse(void);
void storm_own_fuse(void);
void storm_lies(void);

#endif /* KUNWIND_STORM_H */

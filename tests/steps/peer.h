/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A second opinion: libdw reads the same CFI with code of its own. It also knows
 * the names of functions.
 */
#ifndef STEPS_PEER_H
#define STEPS_PEER_H

#include <elfutils/libdwfl.h>
#include "tracee.h"

#define PEER_NAME	64

/**
 * struct peer - libdw's view of the program
 * @dwfl: its handle, or NULL
 * @maps: number of the address map that it was made for
 * @tracee: the program
 */
struct peer {
	Dwfl *dwfl;
	u64 maps;
	const struct tracee *tracee;
};

/**
 * struct place - an address in a file
 * @file: its name without the path
 * @function: the symbol, or the section
 * @off: offset from the symbol
 * @vaddr: address in the file
 */
struct place {
	char file[PEER_NAME];
	char function[PEER_NAME];
	u64 off;
	u64 vaddr;
};

/* The program as it is now; @maps changes when its mappings have. */
void peer_use(struct peer *p, const struct tracee *t, u64 maps);
void peer_free(struct peer *p);

/**
 * peer_walk() - unwind
 * @p: the peer
 * @frames: where to write addresses, innermost first
 * @sps: where to write each frame's stack pointer, or NULL
 * @capacity: room for how many
 *
 * Return: how many frames there are.
 */
u32 peer_walk(struct peer *p, u64 *frames, u64 *sps, u32 capacity);

struct place peer_place(struct peer *p, u64 addr);

/*
 * Return: whether .eh_frame has a rule for @addr. Elsewhere libdw reads .debug_frame,
 * and guesses by the frame pointer.
 */
bool peer_has_rule(struct peer *p, u64 addr);

#endif /* STEPS_PEER_H */

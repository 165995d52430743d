/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where functions begin and end, as unwind information knows it, even in a stripped file. */
#ifndef KR_FDE_H
#define KR_FDE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct kr_fde - what an FDE says of a function
 * @start: its first address
 * @end: the first behind it
 * @signal: it is code that returns from a signal handler
 */
struct kr_fde {
	uint64_t start;
	uint64_t end;
	bool signal;
};

/**
 * kr_fde_find() - the FDE that covers an address
 * @elf: the file
 * @vaddr: the address, as the file has it
 * @fde: set
 *
 * Return: 1 if there is one; 0 if none covers the address; -1 if the file has no search
 * table of the usual form, so that it must be read from its beginning.
 */
int kr_fde_find(Elf *elf, uint64_t vaddr, struct kr_fde *fde);

#endif /* KR_FDE_H */

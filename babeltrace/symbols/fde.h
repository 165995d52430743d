/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where functions begin, as unwind information knows it, even in a stripped file. */
#ifndef KR_FDE_H
#define KR_FDE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * kr_fde_table() - the search table of .eh_frame_hdr
 * @elf: the file
 * @base: set to the address of the section, to which the table is relative
 *
 * Return: the section's bytes, which live as long as @elf; NULL if there is no table
 * of the usual form.
 */
const Elf_Data *kr_fde_table(Elf *elf, uint64_t *base);

/**
 * kr_fde_start() - where the FDE of an address begins
 * @table: of kr_fde_table()
 * @base: likewise
 * @vaddr: an address that an FDE covers
 * @start: set to its first address
 *
 * Return: false if no entry of the table begins before @vaddr.
 */
bool kr_fde_start(const Elf_Data *table, uint64_t base, uint64_t vaddr,
		  uint64_t *start);

#endif /* KR_FDE_H */

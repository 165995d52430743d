/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What libdwarf says of a file's .eh_frame. */
#ifndef HOST_ORACLE_LIBDWARF_H
#define HOST_ORACLE_LIBDWARF_H

#include <stdint.h>
#include "equation.h"

struct oracle;

/* One FDE, at @off of the section: the addresses from @start to below @end. */
struct oracle_fde {
	uint64_t start;
	uint64_t end;
	uint64_t off;
	void *fde;
	bool signal;
};

/**
 * oracle_open() - read a file's .eh_frame
 * @path: the file
 * @debug_frame: read its .debug_frame instead
 * @oracle: the answer; oracle_close() it
 * @why: why there is none
 *
 * Return: 0; 1 if the file has no such section; -1 if libdwarf cannot read it.
 */
int oracle_open(const char *path, bool debug_frame, struct oracle **oracle, const char **why);
void oracle_close(struct oracle *o);

/* Return: whether the program of the FDE may hold DW_CFA_def_cfa_register @reg. */
bool oracle_may_set_cfa_reg(struct oracle *o, const struct oracle_fde *fde,
			    unsigned int reg);

/* All FDEs, sorted by start, and by offset where that is the same. */
const struct oracle_fde *oracle_fdes(const struct oracle *o, uint64_t *count);

/**
 * oracle_row() - the row that holds at an address
 * @o: the file
 * @fde: an FDE of it
 * @addr: an address of that
 * @row: the rules
 * @start: the first address that has them
 *
 * Return: 0, or -1 with @why.
 */
int oracle_row(struct oracle *o, const struct oracle_fde *fde, uint64_t addr,
	       struct eq_row *row, uint64_t *start, const char **why);

#endif /* HOST_ORACLE_LIBDWARF_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Every row of a file: what its table says next to what libdwarf says. */
#ifndef HOST_ROWS_H
#define HOST_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Why a row is not in a table, or not wholly, or libdwarf no judge of it. */
#define ROWS_REASONS(X) \
	X(FOREIGN_REG, "a rule names a register beyond 16 (xmm saved by ms_abi code)") \
	X(CALLER_SAVED, "a caller-saved register is saved, and not kept") \
	X(LONG_EXPR, "an expression is longer than a table takes") \
	X(NO_SEGMENT, "the FDE lies in no executable segment") \
	X(GO_SP, "a Go function that writes the stack pointer, or serves C code") \
	X(GO_END, "a Go function that nothing calls, which .debug_frame does not say") \
	X(ORACLE, "libdwarf leaves an expression in force that DW_CFA_def_cfa_register " \
		  "ended (libgcc, gdb and readelf do not)")

enum rows_reason {
#define ROWS_ENUM(name, sentence) ROWS_##name,
	ROWS_REASONS(ROWS_ENUM)
#undef ROWS_ENUM
	ROWS_NR_REASONS
};

/**
 * struct rows_stats - counts, of one file or many
 * @files: files compared
 * @not_elf: files that are no x86-64 program or library, or have no .eh_frame
 * @not_compiled: files that libdwarf reads and the core refuses
 * @not_read: files that libdwarf cannot read
 * @fdes: FDEs
 * @fde_errors: FDEs that libdwarf cannot read
 * @rows: rows compared, each at its first and last address
 * @different: rows of which something is different
 * @shadowed: rows, or parts of them, that belong to an FDE with a larger start
 * @gaps: gaps between FDEs probed
 * @gap_rules: of these, with a rule where there should be none
 * @partial: rows by the reason why not all of it was compared
 * @eh_frame: bytes of .eh_frame, or of .gopclntab
 * @table: bytes of tables
 */
struct rows_stats {
	uint64_t files, not_elf, not_compiled, not_read;
	uint64_t fdes, fde_errors, rows, different, shadowed;
	uint64_t gaps, gap_rules;
	uint64_t partial[ROWS_NR_REASONS];
	uint64_t eh_frame, table;
};

struct rows_options {
	unsigned int sample;	/* every n-th FDE */
	unsigned int examples;	/* differences printed for a file */
	bool every;		/* also between the first and the last address of a row */
	bool go;		/* the rows of .gopclntab, next to .debug_frame */
};

/* Compare one file, count in @stats, print examples on stderr. */
void rows_file(const char *path, const struct rows_options *options,
	       struct rows_stats *stats);

void rows_add(struct rows_stats *sum, const struct rows_stats *one);

/* Return: whether anything is wrong. */
int rows_failed(const struct rows_stats *stats);

#endif /* HOST_ROWS_H */

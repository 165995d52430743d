/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rows of Go's functions. Go's linker writes no .eh_frame for them, but .gopclntab, with which
 * Go's runtime unwinds: it has the size of the frame at each instruction.
 */
#ifndef KUW_GOPCLNTAB_H
#define KUW_GOPCLNTAB_H

#include "scan.h"

struct kuw_gopclntab {
	struct kuw_scan *scan;	/* in and out: has what functions need, and takes them as FDEs */
	const u8 *bytes;	/* in: the section */
	u32 len;		/* in: its bytes; 0 if there is none */
	/* private: */
	u64 text;
	u32 names;
	u32 pctab;
	u32 funcs;
	u32 nr_funcs;
	u32 skip;
	u32 steps;
	bool starts;
};

/*
 * Add Go's functions: none if the section's version is unknown. Return: 0, -E2BIG, an error of the
 * caller's functions.
 */
int kuw_gopclntab(struct kuw_gopclntab *g);

#endif /* KUW_GOPCLNTAB_H */

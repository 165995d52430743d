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
	u32 pos;
	u32 steps;
	bool starts;
};

/* Read the header. Without one of a known version, there are no functions. */
void kuw_gopclntab_begin(struct kuw_gopclntab *g);

/* Look for the function where the process starts, in a batch. Return: 0, KUW_AGAIN. */
int kuw_gopclntab_entry(struct kuw_gopclntab *g);

/* Add a batch of functions. Return: 0, KUW_AGAIN, -ENOSPC, -E2BIG. */
int kuw_gopclntab_funcs(struct kuw_gopclntab *g);

#endif /* KUW_GOPCLNTAB_H */

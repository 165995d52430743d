/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The first phase: find every FDE, and run its program. */
#ifndef KUW_SCAN_H
#define KUW_SCAN_H

#include "cfi.h"
#include "elf.h"
#include "sort.h"

#define KUW_CIE_SLOTS	8

/* A CIE that was parsed lately, with the state that its program leaves. */
struct kuw_cie_slot {
	u32 pos;
	int err;
	struct kuw_cie cie;
	struct kuw_cfi initial;
};

struct kuw_scan {
	const struct kuw_elf *elf;	/* in: its executable segments */
	struct kuw_section eh_frame;	/* in */
	u64 base;			/* in: the file address of the table's base */
	struct kuw_areas *areas;	/* in */
	struct kuw_intern *intern;	/* out: the distinct rules */
	struct kuw_found found;		/* out: the rows of all FDEs */
	/*
	 * Out: how many FDEs are in KUW_AREA_FDES. The key of each is the offset where it starts,
	 * its value the place of its rows in @found. There is as much room again.
	 */
	u32 nr_fdes;
	u32 end;			/* out: where the last of them ends */
	u32 nr_bad;			/* out: damaged records, and what a table cannot express */
	/*
	 * Out: how many bytes of .eh_frame were scanned, up to its end, a terminator that ends it,
	 * or a record whose length is damaged, so that the next one cannot be found.
	 */
	u32 pos;
	/* private: */
	struct kuw_cfi_run run;
	u32 cie_bytes;
	struct kuw_cie_slot slots[KUW_CIE_SLOTS];
};

/* All other fields of @s are 0. Return: 0, -E2BIG, or an error of the caller's functions. */
int kuw_scan(struct kuw_scan *s);

/*
 * For every source of rows, as its functions count as FDEs. Cut a function to its segment, make
 * room for it, and start with its rows. Return: 0 and its offset; 1 if it covers no code of the
 * file; -EINVAL, -ENOMEM, -E2BIG.
 */
int kuw_scan_begin_fde(struct kuw_scan *s, u64 start, u64 *len, u32 *off);

/* Add the function with the rows that @found has; after @err, forget them. Return: @err. */
int kuw_scan_end_fde(struct kuw_scan *s, u32 off, u32 len, int err);

#endif /* KUW_SCAN_H */

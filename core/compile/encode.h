/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The last phase: write the table. */
#ifndef KUW_ENCODE_H
#define KUW_ENCODE_H

#include "place.h"
#include "rank.h"
#include "scan.h"

struct kuw_encode {
	const struct kuw_scan *scan;	/* in: what the file is, and its rules */
	const struct kuw_place *place;	/* in: the entries */
	const struct kuw_rank *rank;	/* in: the rules */
	u32 bytes;			/* out: bytes of the table */
	/* private: what is written */
	u32 entry;
	u32 bucket;
	u32 at;
};

/* Lay out the table, and write all but its entries. Return: 0, -ENOSPC, -E2BIG. */
int kuw_encode_layout(struct kuw_encode *en);

/* Write a batch of entries. Return: 0, KUW_AGAIN. */
int kuw_encode_entries(struct kuw_encode *en);

#endif /* KUW_ENCODE_H */

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
};

/* Return: 0, -E2BIG, or an error of the caller's functions. */
int kuw_encode(const struct kuw_encode *en);

#endif /* KUW_ENCODE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What each function of a profile costs. */
#ifndef KR_FUNCTIONS_H
#define KR_FUNCTIONS_H

#include "profile.h"

/**
 * struct kr_function - what a function costs
 * @name: of the profile
 * @stamp: for the one who counts
 * @total: with all that it calls
 * @self: by itself
 * @events: how many stacks it is in
 */
struct kr_function {
	uint32_t name;
	uint32_t stamp;
	uint64_t total;
	uint64_t self;
	uint64_t events;
};

/* Return: struct kr_function, what costs most first. */
GArray *kr_functions_of(const struct kr_profile *profile, enum kr_weight what);

#endif /* KR_FUNCTIONS_H */

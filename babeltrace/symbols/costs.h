/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the symbolizer's work costs, of each file and of all. A file may cost so much, and more
 * if it is large (reader_budgets.h): a small one that takes long was made for that.
 */
#ifndef KR_COSTS_H
#define KR_COSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* How often processor time is looked at while the symbolizer works. */
#define KR_LOOK_MS	100

/**
 * struct kr_cost - what was spent, and on how much
 * @ns: processor time
 * @bytes: of files
 */
struct kr_cost {
	uint64_t ns;
	uint64_t bytes;
};

/**
 * struct kr_costs - of all files
 * @all: their sum
 * @answer_bytes: of all answers
 * @clock: processor time of the symbolizer
 * @charged: the file whose cost that time is; NULL: none's
 * @busy: that time when it was looked at last
 * @since: when that was
 */
struct kr_costs {
	struct kr_cost all;
	uint64_t answer_bytes;
	clockid_t clock;
	struct kr_cost *charged;
	uint64_t busy;
	uint64_t since;
};

/* From now on the symbolizer is this process, which has done nothing yet. */
void kr_costs_of_process(struct kr_costs *costs, pid_t pid);

/* What the symbolizer does from now on is for the file with this cost. */
void kr_costs_turn(struct kr_costs *costs, struct kr_cost *file);

/* The symbolizer has worked, or waited, for KR_LOOK_MS. */
void kr_costs_waited(struct kr_costs *costs);

/* The symbolizer has ended, or will be ended: its process is still there. */
void kr_costs_end(struct kr_costs *costs);

/* The symbolizer is given so many bytes of a file. */
void kr_costs_allow(struct kr_costs *costs, struct kr_cost *file, uint64_t bytes);

/* Whether all files together may cost no more. */
bool kr_costs_are_all_spent(const struct kr_costs *costs);

/* Whether the file may cost no more, or all together. */
bool kr_costs_are_spent(const struct kr_costs *costs, const struct kr_cost *file);

#endif /* KR_COSTS_H */

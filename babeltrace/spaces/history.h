/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a trace tells of its address spaces, now and before.
 *
 * A session is active before its state dump, so that its first stacks can be of
 * spaces of which nothing was told yet. What the dump has of an address was there
 * since the session began, unless another event told of that address before: then
 * it is since that event, and what was there before it is not known. So who has
 * such a stack can wait for the end of the dump, and then knows.
 */
#ifndef KR_HISTORY_H
#define KR_HISTORY_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

struct kr_event_class;
struct kr_modules;
struct kr_spaces;

/**
 * struct kr_history - of one trace
 * @spaces: what is mapped, as far as events were applied
 * @past: what was mapped when the trace began, as far as events were noticed; NULL:
 *	  no more will be known of that
 * @awaited: the end of the dump must be noticed before more is applied
 * @until: a live trace's does not come later, in nanoseconds; INT64_MIN: there is none;
 *	   INT64_MAX: before the first event
 */
struct kr_history {
	struct kr_spaces *spaces;
	struct kr_spaces *past;
	bool awaited;
	int64_t until;
};

struct kr_history *kr_history_new(void);
void kr_history_free(struct kr_history *history);

/*
 * Look at an event, in the order of the trace, before it is applied. @live: what comes
 * later may not be written yet.
 */
void kr_history_notice(struct kr_history *history, const bt_message *message,
		       const struct kr_event_class *class,
		       struct kr_modules *modules, bool live);

/* Wait no longer: what is known of the past becomes a part of @spaces. */
void kr_history_settle(struct kr_history *history);

#endif /* KR_HISTORY_H */

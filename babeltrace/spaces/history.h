/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a trace tells of its address spaces, now and before.
 *
 * A session is active before its state dump, so that its first stacks can be of
 * spaces of which nothing was told yet. The same is true each time that it is started
 * again. What the dump has of an address was there since the start, unless another
 * event told of that address before: then it is since that event, and what was there
 * before it is not known. So who has such a stack can wait for the end of the dump, and
 * then knows.
 *
 * What went while the session was stopped, no event tells. It is what the next dump
 * does not have.
 *
 * After events were lost, what was told may be old, until it is told again.
 */
#ifndef KR_HISTORY_H
#define KR_HISTORY_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "event.h"
#include "maps.h"

struct kr_event_class;
struct kr_modules;
struct kr_spaces;

/**
 * struct kr_history - of one trace
 * @spaces: what is mapped, as far as events were applied
 * @past: what was mapped before, as far as events were noticed; the end of a dump must
 *	  be noticed before more is applied. NULL: nothing waits for it
 * @until: a live trace's does not come later, in nanoseconds; INT64_MIN: none is waited
 *	   for; INT64_MAX: nothing has waited yet
 * @losses: what the tracer had no room for, of the channels that have such events
 * @lost: it will be met: events were noticed that far
 * @dump: their mark when the dump began
 * @dumping: it began
 */
struct kr_history {
	struct kr_spaces *spaces;
	struct kr_spaces *past;
	int64_t until;
	struct kr_losses losses;
	bool lost;
	uint64_t dump;
	bool dumping;
};

/* Return: a table of all traces' histories, by bt_trace, which frees them when it is destroyed. */
GHashTable *kr_histories_new(void);

/* Return: that of a trace, or of an event's trace; it is made if there is none. */
struct kr_history *kr_history_of_trace(GHashTable *histories, const bt_trace *trace);
struct kr_history *kr_history_of_event(GHashTable *histories, const bt_event *event);

/*
 * Look at an event, in the order of the trace, before it is applied. @live: what comes
 * later may not be written yet.
 */
void kr_history_notice(struct kr_history *history, const bt_message *message,
		       const struct kr_event_class *class,
		       struct kr_modules *modules, bool live);

/* Apply it. */
void kr_history_apply(struct kr_history *history, const bt_message *message,
		      enum kr_maps_event what, struct kr_modules *modules);

/* Events that tell of spaces were lost: the same, in two steps. */
void kr_history_notice_loss(struct kr_history *history);
void kr_history_apply_loss(struct kr_history *history, const struct kr_loss *loss);

/* Wait no longer: what is known of the past becomes a part of @spaces. */
void kr_history_settle(struct kr_history *history);

/* The same, and do not wait again before another dump begins. */
void kr_history_give_up(struct kr_history *history);

#endif /* KR_HISTORY_H */

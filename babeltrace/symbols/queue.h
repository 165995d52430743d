/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The messages that the filter has pulled and not handled yet.
 *
 * Each is noticed when it is first looked at. After that it can wait: for the end of a state
 * dump, which says what was mapped before (history.h). What waits is bounded.
 */
#ifndef KR_QUEUE_H
#define KR_QUEUE_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct kr_filter;
struct kr_mirror;

/**
 * struct kr_queue - of a message iterator, which makes and frees it, and alone uses it
 * @self: the iterator
 * @upstream: where messages come from; the queue's own reference
 * @filter: whose iterator it is
 * @mirror: the iterator's
 * @histories: the iterator's: see kr_history_of_trace()
 * @live: @upstream has once had nothing to tell, without having ended
 */
struct kr_queue {
	bt_self_message_iterator *self;
	bt_message_iterator *upstream;
	struct kr_filter *filter;
	struct kr_mirror *mirror;
	GHashTable *histories;
	bool live;
	/* private: bt_message; of these, the first that was not handled, and not noticed */
	GPtrArray *messages;
	guint next;
	guint seen;
	/* how many histories wait, and the memory of the messages that wait with them */
	guint awaiting;
	uint64_t held;
	/* how @upstream has ended, or OK; and the error of that */
	bt_message_iterator_next_status end;
	const bt_error *error;
};

/* Return: OK when a message may be handled; otherwise what there is instead. */
bt_message_iterator_next_status kr_queue_advance(struct kr_queue *q);

/* After that. Return: the message, which the caller puts. */
const bt_message *kr_queue_take(struct kr_queue *q);

/* Return: the message that will be taken after @n others, which is pulled if need be; or NULL. */
const bt_message *kr_queue_ahead(struct kr_queue *q, guint n);

/* Give the error with which @upstream has ended, if any, to the current thread. */
void kr_queue_move_error(struct kr_queue *q);

/* Forget all, as at the start. */
void kr_queue_empty(struct kr_queue *q);

/* @q: with its public members. @upstream is the queue's from here on. */
void kr_queue_init(struct kr_queue *q);
void kr_queue_fini(struct kr_queue *q);

#endif /* KR_QUEUE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a sink wants to know of a message. */
#ifndef KR_EVENT_H
#define KR_EVENT_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "resolved_stack.h"

enum kr_half {
	KR_NO_CALL,
	KR_ENTRY,
	KR_EXIT,
};

/*
 * Return: which half of a system call an event is, by its name; *@name then becomes that
 * of the call. NULL becomes "?".
 */
enum kr_half kr_call_of(const char **name);

/* Return: whether an event is the exit of execve(). */
bool kr_is_exec(const bt_event *event);

/* Threads of several machines can have the same number. */
struct kr_thread {
	const bt_trace *trace;
	int64_t tid;
};

guint kr_hash_thread(gconstpointer thread);
gboolean kr_equal_threads(gconstpointer a, gconstpointer b);

/**
 * struct kr_event - an event
 * @event: of the trace
 * @half: which half of a system call it is
 * @name: the system call's, else the event's
 * @time: in nanoseconds; 0 if the trace has no clock
 * @task: whose it is
 * @thread: the same, as a key
 */
struct kr_event {
	const bt_event *event;
	enum kr_half half;
	const char *name;
	int64_t time;
	struct kr_task task;
	struct kr_thread thread;
};

/* Return: whether the message is an event, and not one for the filter alone. */
bool kr_event_of_message(const bt_message *message, struct kr_event *event);

/**
 * struct kr_loss - the tracer had no room for some events
 * @trace: which one
 * @class: of its stream: the channel
 * @stream: the number of its stream
 * @packets: whether whole packets are gone
 * @count: how many; 0: unknown
 * @begin: none is lost before, in nanoseconds
 * @end: nor after
 * @timed: whether @begin and @end are known
 */
struct kr_loss {
	const bt_trace *trace;
	const bt_stream_class *class;
	uint64_t stream;
	bool packets;
	uint64_t count;
	int64_t begin;
	int64_t end;
	bool timed;
};

/* Return: whether the message says that something was lost. */
bool kr_loss_of_message(const bt_message *message, struct kr_loss *loss);

/*
 * An event that begins something and one that ends it belong together only if
 * none between them was lost. Of each that begins, the mark is kept.
 */
struct kr_losses {
	uint64_t count;
	int64_t until;
	uint64_t restarts;	/* of sessions */
	GHashTable *dumped;	/* channels that have begun a state dump; NULL: none has */
};

void kr_losses_clear(struct kr_losses *losses);

void kr_losses_add(struct kr_losses *losses, const struct kr_loss *loss);

/* The event that a state dump begins with: Documentation/trace-format.md. */
#define KR_DUMP_BEGIN	"kunwind_statedump_begin"

/*
 * Look for the begin of a state dump, which is made when a session starts. Before each but a
 * channel's first one the session was stopped, or may have been, and nothing was recorded.
 */
void kr_losses_take_dump(struct kr_losses *losses, const bt_message *message);

/* Return: the mark of something that begins now. */
uint64_t kr_losses_mark(const struct kr_losses *losses, int64_t now);

/* Return: whether something may have been lost since. */
bool kr_losses_since(const struct kr_losses *losses, uint64_t mark);

#endif /* KR_EVENT_H */

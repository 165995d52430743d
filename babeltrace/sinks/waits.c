// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Threads that are off the CPU. */
#include "format.h"
#include "waits.h"

struct kr_waits {
	void (*over)(void *data, const struct kr_wait *wait, int64_t end);
	void *data;
	GHashTable *waits;
};

static void free_wait(gpointer data)
{
	struct kr_wait *wait = data;

	g_free((char *)wait->task.procname);
	g_free(wait->waker);
	g_free(wait);
}

struct kr_waits *kr_waits_new(void (*over)(void *data, const struct kr_wait *wait,
					   int64_t end), void *data)
{
	struct kr_waits *waits = g_new0(struct kr_waits, 1);

	waits->over = over;
	waits->data = data;
	waits->waits = g_hash_table_new_full(kr_hash_thread, kr_equal_threads, NULL,
					     free_wait);
	return waits;
}

void kr_waits_free(struct kr_waits *waits)
{
	g_hash_table_destroy(waits->waits);
	g_free(waits);
}

/* Return: a number of an event's payload; -1 if it has none of that name. */
static int64_t number(const struct kr_event *event, const char *name)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event->event);
	const bt_field *field = payload ?
		bt_field_structure_borrow_member_field_by_name_const(payload, name) :
		NULL;
	int64_t value;

	return field && kr_number_of(field, &value) ? value : -1;
}

static void end(struct kr_waits *waits, const struct kr_thread *thread, int64_t time)
{
	const struct kr_wait *wait = g_hash_table_lookup(waits->waits, thread);

	if (!wait)
		return;
	waits->over(waits->data, wait, time);
	g_hash_table_remove(waits->waits, thread);
}

void kr_waits_begin(struct kr_waits *waits, const struct kr_event *event, uint32_t node,
		    uint64_t mark)
{
	struct kr_wait *wait = g_new0(struct kr_wait, 1);
	int64_t state = number(event, "prev_state");

	end(waits, &event->thread, KR_NO_END);
	wait->thread = event->thread;
	wait->task = event->task;
	wait->task.procname = g_strdup(event->task.procname);
	wait->node = node;
	wait->begin = event->time;
	wait->mark = mark;
	wait->runnable = kr_state_is_runnable(state);
	wait->waker = g_strdup("");
	g_hash_table_insert(waits->waits, &wait->thread, wait);
	if (state >= 0 && state & KR_STATE_EXIT)
		end(waits, &event->thread, KR_NO_END);
}

/* The same switch can be in the trace twice, with a stack and without. */
void kr_waits_end(struct kr_waits *waits, const struct kr_event *event)
{
	struct kr_thread thread = {
		.trace = event->thread.trace, .tid = number(event, "next_tid"),
	};

	if (thread.tid > 0)
		end(waits, &thread, event->time);
}

void kr_waits_wake(struct kr_waits *waits, const struct kr_event *event)
{
	struct kr_thread thread = {
		.trace = event->thread.trace, .tid = number(event, "tid"),
	};
	struct kr_wait *wait = g_hash_table_lookup(waits->waits, &thread);

	if (!wait || wait->waker[0])
		return;
	g_free(wait->waker);
	/* Interrupts wake, too, whatever they interrupt. */
	wait->waker = g_strdup(event->task.tid ? event->task.procname : "an interrupt");
}

void kr_waits_finish(struct kr_waits *waits)
{
	GHashTableIter iter;
	gpointer wait;

	g_hash_table_iter_init(&iter, waits->waits);
	while (g_hash_table_iter_next(&iter, NULL, &wait))
		waits->over(waits->data, wait, KR_NO_END);
	g_hash_table_remove_all(waits->waits);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Threads that leave a CPU, and come to it. */
#include <inttypes.h>
#include "packets.h"
#include "switches.h"
#include "waits.h"

static const bt_field *payload_member(const bt_event *event, const char *name,
				      bt_field_class_type type)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *member = NULL;

	if (payload)
		member = bt_field_structure_borrow_member_field_by_name_const(payload,
									      name);
	if (!member ||
	    !bt_field_class_type_is(bt_field_get_class_type(member), type))
		return NULL;
	return member;
}

static int64_t payload_number(const bt_event *event, const char *name)
{
	const bt_field *field = payload_member(event, name,
					       BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);

	return field ? bt_field_integer_signed_get_value(field) : -1;
}

static const char *payload_string(const bt_event *event, const char *name)
{
	const bt_field *field = payload_member(event, name,
					       BT_FIELD_CLASS_TYPE_STRING);

	return field ? bt_field_string_get_value(field) : "";
}

/* A thread leaves a CPU. */
static void switch_out(struct kr_tracks *tracks, const struct kr_event *event,
		       int64_t tid)
{
	static const char *const states[] = {
		"runnable", "sleeping", "sleeping, not interruptible",
	};
	int64_t state = payload_number(event->event, "prev_state");
	struct kr_track *track;
	char number[32];

	if (event->task.tid == tid)
		track = kr_track_of_event(tracks, event);
	else
		track = kr_track_find(tracks, event->thread.trace, tid);
	if (!track)
		return;
	kr_activity_cut(tracks, track, &track->state, "not in the trace");
	/* It does not run again. */
	if (state >= 0 && state & KR_STATE_EXIT)
		return;
	kr_activity_begin(tracks, &track->state, "off CPU", "sched", event->time);
	if (event->task.tid == tid)
		track->state.stack = kr_packets_stack(tracks->packets, event->event);
	g_snprintf(number, sizeof(number), "%" PRId64, state);
	if (kr_state_is_runnable(state))
		state = 0;
	kr_args_add(track->state.args, "state",
		      state >= 0 && state < (int64_t)G_N_ELEMENTS(states) ?
		      states[state] : number);
}

/*
 * Return: whether a switch was seen before: kunwind trace --off-cpu records all switches,
 * and once more, in another channel, with their stacks, those of the threads that are traced.
 * Each record has a time of its own. In one channel the same switch can follow again: the one
 * back may not be recorded.
 */
static bool is_again(const struct kr_tracks *tracks, struct kr_track *cpu,
		     const struct kr_event *event)
{
	int64_t from = payload_number(event->event, "prev_tid");
	int64_t to = payload_number(event->event, "next_tid");
	/* Each channel has its own. */
	const bt_event_class *channel = bt_event_borrow_class_const(event->event);
	bool again = cpu->switched && cpu->switched != channel &&
		     cpu->from == from && cpu->to == to;
	struct kr_track *track;

	cpu->switched = again ? NULL : channel;
	cpu->from = from;
	cpu->to = to;
	if (!again)
		return false;
	track = kr_track_find(tracks, event->thread.trace, from);
	if (track && track->state.name && !track->state.stack)
		track->state.stack = kr_packets_stack(tracks->packets, event->event);
	return true;
}

void kr_switch(struct kr_tracks *tracks, const struct kr_event *event, int64_t number)
{
	int64_t prev = payload_number(event->event, "prev_tid");
	int64_t next = payload_number(event->event, "next_tid");
	const char *comm = payload_string(event->event, "next_comm");
	const bt_trace *trace = event->thread.trace;
	struct kr_track *cpu, *thread;
	char tid[32];

	cpu = kr_track_of_cpu(tracks, trace, number, KR_CPUS);
	if (is_again(tracks, cpu, event))
		return;
	kr_activity_end(tracks, cpu, &cpu->state, event->time);
	/* Number 0 is a CPU that is idle. */
	if (prev > 0)
		switch_out(tracks, event, prev);
	if (next <= 0)
		return;
	thread = kr_track_find(tracks, trace, next);
	if (thread) {
		kr_activity_end(tracks, thread, &thread->state, event->time);
		kr_track_set_name(thread, comm);
	}
	kr_activity_begin(tracks, &cpu->state, comm, "sched", event->time);
	g_snprintf(tid, sizeof(tid), "%" PRId64, next);
	kr_args_add(cpu->state.args, "tid", tid);
}

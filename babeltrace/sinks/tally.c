// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Counting stacks.
 *
 * A system call is one event, with the stack of its entry; of one whose entry is not
 * in the trace, that of its exit.
 */
#include <inttypes.h>
#include <string.h>
#include "format.h"
#include "profile.h"
#include "sample.h"
#include "sink.h"
#include "tally.h"
#include "timeline.h"
#include "traced_machine.h"
#include "waits.h"

#define NO_SAMPLE	UINT32_MAX

/**
 * struct call - a system call that was entered
 * @key: whose it is
 * @pid: whose process
 * @name: of the system call
 * @kind: of the profile, if it has a stack
 * @sample: its stack, or NO_SAMPLE
 * @time: of its entry, in nanoseconds
 * @mark: of struct kr_losses
 */
struct call {
	struct kr_thread key;
	int64_t pid;
	char *name;
	uint32_t kind;
	uint32_t sample;
	int64_t time;
	uint64_t mark;
};

static void free_call(gpointer data)
{
	struct call *call = data;

	g_free(call->name);
	g_free(call);
}

static void note_event(struct kr_tally *tally, const struct kr_event *event)
{
	tally->events++;
	if (!g_hash_table_contains(tally->threads, &event->thread))
		g_hash_table_add(tally->threads, g_memdup2(&event->thread,
							   sizeof(event->thread)));
	tally->profile->begin = MIN(tally->profile->begin, event->time);
	tally->profile->end = MAX(tally->profile->end, event->time);
}

/* A stack of a thread was there for a time; of length 0, if nobody knows for how long. */
static void note_span(struct kr_tally *tally, const struct kr_thread *thread,
		      int64_t pid, uint32_t sample, int64_t begin, int64_t end)
{
	struct kr_pair pair;

	if (!tally->timeline || sample == NO_SAMPLE)
		return;
	/* What a sample stands for began before its event. */
	tally->profile->begin = MIN(tally->profile->begin, begin);
	pair = kr_pairs_get(tally->profile->samples, sample);
	kr_timeline_add(tally->timeline, kr_machine_of(tally->machines, thread->trace), pid,
			thread->tid, &(struct kr_span) {
				.begin = begin, .end = MAX(begin, end),
				.kind = pair.a, .node = pair.b,
			});
}

/* Count a stack of a thread. Return: its sample, and its kind. */
static uint32_t count_stack(struct kr_tally *tally, const struct kr_task *task,
			    const bt_trace *trace, const char *name, uint32_t node,
			    uint32_t *kind)
{
	char number[32];
	const char *process = task->procname;
	uint32_t sample;

	if (!process[0] && task->pid >= 0) {
		g_snprintf(number, sizeof(number), "%" PRId64, task->pid);
		process = number;
	}
	g_string_assign(tally->name, process[0] ? process : "[unknown]");
	/* What shows one thread reads its number from here. */
	if (tally->names_threads && task->tid >= 0)
		g_string_append_printf(tally->name, " [%" PRId64 "]", task->tid);
	*kind = kr_profile_kind(tally->profile, tally->name->str,
				kr_machine_of(tally->machines, trace)->name, name);
	sample = kr_profile_sample(tally->profile, *kind, node);
	kr_profile_add(tally->profile, sample, KR_EVENTS, 1);
	return sample;
}

/* Return: the sample of an event, which is counted, and its kind. */
static uint32_t count_event(struct kr_tally *tally, const struct kr_event *event,
			    uint32_t *kind)
{
	struct kr_stack stack;

	note_event(tally, event);
	*kind = 0;
	if (!kr_stack_of_event(event->event, &stack)) {
		tally->bare++;
		return NO_SAMPLE;
	}
	return count_stack(tally, &event->task, event->thread.trace, event->name,
			   kr_profile_node(tally->profile, &stack), kind);
}

/* A sample is of a thread that is on the CPU; as waits do, it counts time as well. */
static void count_other(struct kr_tally *tally, const struct kr_event *event)
{
	struct kr_event on_cpu = *event;
	struct kr_sample of;
	uint32_t kind, sample;

	if (!kr_sample_of_event(event->event, &of)) {
		sample = count_event(tally, event, &kind);
		note_span(tally, &event->thread, event->task.pid, sample, event->time,
			  event->time);
		return;
	}
	on_cpu.name = "on-CPU";
	sample = count_event(tally, &on_cpu, &kind);
	if (sample != NO_SAMPLE)
		kr_profile_add(tally->profile, sample, KR_NS, of.period);
	note_span(tally, &event->thread, event->task.pid, sample,
		  event->time - of.period, event->time);
}

/* A wait that is over, or whose end is not in the trace. */
static void count_wait(void *data, const struct kr_wait *wait, int64_t end)
{
	struct kr_tally *tally = data;
	uint32_t kind, sample;
	uint64_t ns;
	char *name;

	/* The thread may have run meanwhile. */
	if (end != KR_NO_END && kr_losses_since(&tally->losses, wait->mark)) {
		tally->unsure++;
		end = KR_NO_END;
	}
	ns = end > wait->begin ? (uint64_t)end - (uint64_t)wait->begin : 0;
	if (end == KR_NO_END)
		name = g_strdup("sched_switch");
	else if (wait->waker[0])
		name = g_strdup_printf("off-CPU, woken by %s", wait->waker);
	else
		name = g_strdup(wait->runnable ? "off-CPU, while it could run" : "off-CPU");
	sample = count_stack(tally, &wait->task, wait->thread.trace, name, wait->node, &kind);
	note_span(tally, &wait->thread, wait->task.pid, sample, wait->begin,
		  MAX(wait->begin, end));
	if (end != KR_NO_END) {
		kr_profile_add(tally->profile, sample, KR_NS, ns);
		kr_profile_end(tally->profile, kind, false, ns);
		tally->profile->end = MAX(tally->profile->end, end);
	}
	g_free(name);
}

/* Return: whether an event is only of use for waits, or is a wait. */
static bool take_switch(struct kr_tally *tally, const struct kr_event *event)
{
	struct kr_stack stack;
	bool has_stack;

	if (strcmp(event->name, "sched_switch") && strcmp(event->name, "sched_waking"))
		return false;
	has_stack = kr_stack_of_event(event->event, &stack);
	tally->switches_have_stacks |= has_stack;
	tally->bare_switches += !has_stack && kr_sink_wants(tally->sink, event);
	if (event->name[6] == 'w') {
		kr_waits_wake(tally->waits, event);
		return !has_stack;
	}
	kr_waits_end(tally->waits, event);
	if (has_stack && kr_sink_wants(tally->sink, event) && event->task.tid > 0) {
		note_event(tally, event);
		kr_waits_begin(tally->waits, event,
			       kr_profile_node(tally->profile, &stack),
			       kr_losses_mark(&tally->losses, event->time));
		return true;
	}
	/* A CPU that is idle does not wait. */
	return !has_stack || !event->task.tid;
}

/* The end of a call is not known. */
static void drop_call(struct kr_tally *tally, const struct call *call)
{
	tally->endless++;
	note_span(tally, &call->key, call->pid, call->sample, call->time, call->time);
}

/* No exit that comes belongs to the thread's call before. */
static void end_before(struct kr_tally *tally, const struct kr_event *event)
{
	const struct call *call = g_hash_table_lookup(tally->calls, &event->thread);

	if (call)
		drop_call(tally, call);
	g_hash_table_remove(tally->calls, &event->thread);
}

static bool returns(const char *name)
{
	return strcmp(name, "exit") && strcmp(name, "exit_group");
}

static void enter(struct kr_tally *tally, const struct kr_event *event)
{
	uint32_t kind, sample = count_event(tally, event, &kind);
	struct call *call;

	/* Of an unknown thread there is none. */
	end_before(tally, event);
	if (event->task.tid < 0 || !returns(event->name)) {
		tally->nobodys += event->task.tid < 0;
		note_span(tally, &event->thread, event->task.pid, sample, event->time,
			  event->time);
		return;
	}
	call = g_new0(struct call, 1);
	call->key = event->thread;
	call->pid = event->task.pid;
	call->name = g_strdup(event->name);
	call->kind = kind;
	call->sample = sample;
	call->time = event->time;
	call->mark = kr_losses_mark(&tally->losses, event->time);
	g_hash_table_replace(tally->calls, &call->key, call);
}

/* Return: what a system call returned; NULL: the trace does not tell. */
static const bt_field *result_of(const struct kr_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event->event);

	return payload ?
		bt_field_structure_borrow_member_field_by_name_const(payload, "ret") : NULL;
}

static bool has_failed(const struct kr_event *event)
{
	const bt_field *result = result_of(event);

	return result && kr_result_errno(result);
}

/* Whether it is the first thing that a new thread does: it returns from its parent's call. */
static bool is_child(const struct kr_event *event)
{
	static const char *const calls[] = { "clone", "clone3", "fork", "vfork", NULL };
	const bt_field *result = result_of(event);

	return result && g_strv_contains(calls, event->name) &&
	       bt_field_class_type_is(bt_field_get_class_type(result),
				      BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) &&
	       !bt_field_integer_signed_get_value(result);
}

static void end_call(struct kr_tally *tally, const struct call *call,
		     const struct kr_event *event)
{
	uint64_t ns = event->time > call->time ?
		      (uint64_t)event->time - (uint64_t)call->time : 0;

	tally->profile->end = MAX(tally->profile->end, event->time);
	if (call->sample == NO_SAMPLE)
		return;
	note_span(tally, &call->key, call->pid, call->sample, call->time, event->time);
	kr_profile_add(tally->profile, call->sample, KR_NS, ns);
	kr_profile_end(tally->profile, call->kind, has_failed(event), ns);
}

static void leave(struct kr_tally *tally, const struct kr_event *event)
{
	struct call *call;
	uint32_t kind, sample;

	/* Its entry was counted, if it is there. */
	if (event->task.tid < 0)
		return;
	call = g_hash_table_lookup(tally->calls, &event->thread);
	if (!call || strcmp(call->name, event->name)) {
		end_before(tally, event);
		if (is_child(event))
			return;
		sample = count_event(tally, event, &kind);
		note_span(tally, &event->thread, event->task.pid, sample, event->time,
			  event->time);
	} else if (kr_losses_since(&tally->losses, call->mark)) {
		tally->unsure++;
		note_span(tally, &call->key, call->pid, call->sample, call->time, call->time);
	} else {
		end_call(tally, call, event);
	}
	g_hash_table_remove(tally->calls, &event->thread);
}

void kr_tally_take(struct kr_tally *tally, const bt_message *message)
{
	struct kr_event event;
	struct kr_loss loss;

	kr_losses_take_dump(&tally->losses, message);
	if (kr_loss_of_message(message, &loss)) {
		kr_losses_add(&tally->losses, &loss);
		*(loss.packets ? &tally->lost_packets : &tally->lost) += loss.count;
	}
	if (!kr_event_of_message(message, &event) || take_switch(tally, &event))
		return;
	if (event.half == KR_EXIT) {
		/* Of one whose entry is left out, so is the exit. */
		if (!tally->sink->filter || g_hash_table_contains(tally->calls, &event.thread))
			leave(tally, &event);
	} else if (kr_sink_wants(tally->sink, &event)) {
		if (event.half == KR_ENTRY)
			enter(tally, &event);
		else
			count_other(tally, &event);
	} else if (event.half == KR_ENTRY) {
		end_before(tally, &event);
	}
}

void kr_tally_init(struct kr_tally *tally, const struct kr_sink *sink)
{
	tally->sink = sink;
	tally->profile = kr_profile_new();
	tally->machines = kr_machines_new();
	tally->waits = kr_waits_new(count_wait, tally);
	tally->calls = g_hash_table_new_full(kr_hash_thread, kr_equal_threads, NULL, free_call);
	tally->threads = g_hash_table_new_full(kr_hash_thread, kr_equal_threads, g_free, NULL);
	tally->name = g_string_new(NULL);
}

void kr_tally_finish(struct kr_tally *tally)
{
	GHashTableIter calls;
	gpointer call;

	kr_waits_finish(tally->waits);
	g_hash_table_iter_init(&calls, tally->calls);
	while (g_hash_table_iter_next(&calls, NULL, &call))
		drop_call(tally, call);
	/* Next to those with stacks they only tell when waits end, and who ends them. */
	if (!tally->switches_have_stacks) {
		tally->events += tally->bare_switches;
		tally->bare += tally->bare_switches;
	}
	tally->profile->nr_threads = g_hash_table_size(tally->threads);
}

struct kr_profile *kr_tally_turn(struct kr_tally *tally)
{
	struct kr_profile *before = tally->profile;

	tally->profile = kr_profile_new_after(before);
	kr_waits_free(tally->waits);
	tally->waits = kr_waits_new(count_wait, tally);
	g_hash_table_remove_all(tally->calls);
	g_hash_table_remove_all(tally->threads);
	kr_losses_clear(&tally->losses);
	tally->lost = tally->lost_packets = tally->events = tally->bare = 0;
	tally->bare_switches = 0;
	tally->switches_have_stacks = false;
	tally->nobodys = tally->endless = tally->unsure = 0;
	return before;
}

void kr_tally_destroy(struct kr_tally *tally)
{
	kr_losses_clear(&tally->losses);
	kr_waits_free(tally->waits);
	kr_timeline_free(tally->timeline);
	g_hash_table_destroy(tally->calls);
	g_hash_table_destroy(tally->threads);
	g_string_free(tally->name, TRUE);
	kr_profile_free(tally->profile);
	kr_machines_free(tally->machines);
}

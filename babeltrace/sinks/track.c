// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Tracks of threads and of CPUs, and what goes on there. */
#include <inttypes.h>
#include <string.h>
#include "packets.h"
#include "track.h"

/* Processes of another machine get other numbers. */
#define MACHINE_PIDS	10000000
/* Streams with greater numbers have one track. */
#define MAX_STREAMS	100000

static void clear(struct kr_activity *activity)
{
	g_free(activity->name);
	if (activity->args)
		g_array_unref(activity->args);
	memset(activity, 0, sizeof(*activity));
}

static void free_track(gpointer data)
{
	struct kr_track *track = data;

	clear(&track->call);
	clear(&track->state);
	g_free(track->name);
	g_free(track);
}

void kr_tracks_init(struct kr_tracks *tracks, struct kr_packets *packets)
{
	tracks->packets = packets;
	tracks->machines = kr_machines_new();
	tracks->tracks = g_hash_table_new_full(kr_hash_thread, kr_equal_threads,
					       NULL, free_track);
}

void kr_tracks_destroy(struct kr_tracks *tracks)
{
	kr_losses_clear(&tracks->losses);
	g_hash_table_destroy(tracks->tracks);
	kr_machines_free(tracks->machines);
}

static uint64_t base_of(const struct kr_machine *machine)
{
	return (uint64_t)MACHINE_PIDS * machine->number;
}

static struct kr_track *track_of(struct kr_tracks *tracks, struct kr_thread key)
{
	struct kr_track *track = g_hash_table_lookup(tracks->tracks, &key);

	if (!track) {
		track = g_new0(struct kr_track, 1);
		track->key = key;
		track->machine = kr_machine_of(tracks->machines, key.trace);
		track->number = kr_packets_track(tracks->packets);
		track->waits = kr_packets_track(tracks->packets);
		g_hash_table_add(tracks->tracks, track);
	}
	return track;
}

struct kr_track *kr_track_find(const struct kr_tracks *tracks,
			       const bt_trace *trace, int64_t tid)
{
	struct kr_thread key = { .trace = trace, .tid = tid };

	return g_hash_table_lookup(tracks->tracks, &key);
}

void kr_track_set_name(struct kr_track *track, const char *name)
{
	if (name[0] && g_strcmp0(track->name, name)) {
		g_free(track->name);
		track->name = g_strdup(name);
	}
}

struct kr_track *kr_track_of_event(struct kr_tracks *tracks,
				   const struct kr_event *event)
{
	struct kr_track *track = track_of(tracks, event->thread);

	track->tid = base_of(track->machine) + event->task.tid;
	track->pid = base_of(track->machine) +
		     (event->task.pid < 0 ? KR_NOBODY : event->task.pid);
	kr_track_set_name(track, event->task.procname);
	return track;
}

/* Such a track has a key that no thread has. */
static struct kr_track *other_track(struct kr_tracks *tracks, const bt_trace *trace,
				    uint64_t process, int64_t number)
{
	struct kr_thread key = { .trace = trace, .tid = -1 - (int64_t)process - number };
	struct kr_track *track = track_of(tracks, key);

	track->pid = base_of(track->machine) + process;
	track->tid = track->pid + 1 + number;
	return track;
}

struct kr_track *kr_track_of_cpu(struct kr_tracks *tracks, const bt_trace *trace,
				 int64_t cpu, uint64_t process)
{
	struct kr_track *track = other_track(tracks, trace, process, cpu);

	if (!track->name)
		track->name = cpu < 0 ? g_strdup("some CPU") :
				g_strdup_printf("CPU %" PRId64, cpu);
	return track;
}

/* In a stream, lost packets and lost events can overlap. */
struct kr_track *kr_track_of_loss(struct kr_tracks *tracks, const struct kr_loss *loss)
{
	uint64_t stream = MIN(loss->stream, MAX_STREAMS);
	struct kr_track *track = other_track(tracks, loss->trace, KR_LOSSES,
					     (int64_t)(2 * stream + loss->packets));

	if (!track->name)
		track->name = g_strdup_printf("stream %" PRIu64, stream);
	return track;
}

void kr_activity_begin(const struct kr_tracks *tracks,
		       struct kr_activity *activity, const char *name,
		       const char *category, int64_t now)
{
	activity->name = g_strdup(name);
	activity->category = category;
	activity->args = kr_args_new();
	activity->begin = now;
	activity->mark = kr_losses_mark(&tracks->losses, now);
}

static bool is_thread(const struct kr_track *track)
{
	return track->key.tid >= 0;
}

static void draw(const struct kr_tracks *tracks, struct kr_track *track,
		 const struct kr_activity *activity, enum kr_phase phase, int64_t end)
{
	bool is_wait = activity == &track->state && is_thread(track);
	struct kr_drawn drawn = {
		.phase = phase, .name = activity->name,
		.category = activity->category, .begin = activity->begin, .end = end,
		.track = is_wait ? track->waits : track->number,
		.stack = activity->stack, .args = activity->args,
	};

	track->waited |= is_wait;
	kr_packets_append(tracks->packets, &drawn);
}

void kr_activity_cut(const struct kr_tracks *tracks, struct kr_track *track,
		     struct kr_activity *activity, const char *why)
{
	if (!activity->name)
		return;
	if (why)
		kr_args_add(activity->args, "end", why);
	draw(tracks, track, activity, KR_INSTANT, 0);
	clear(activity);
}

void kr_activity_end(const struct kr_tracks *tracks, struct kr_track *track,
		     struct kr_activity *activity, int64_t now)
{
	if (!activity->name)
		return;
	if (kr_losses_since(&tracks->losses, activity->mark)) {
		kr_activity_cut(tracks, track, activity,
				"not known: events were lost, or the session was stopped");
		return;
	}
	draw(tracks, track, activity, KR_SLICE, now);
	clear(activity);
}

static gint compare_tracks(gconstpointer a, gconstpointer b)
{
	const struct kr_track *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void leave_open(const struct kr_tracks *tracks, struct kr_track *track,
		       struct kr_activity *activity)
{
	if (activity->name && kr_losses_since(&tracks->losses, activity->mark))
		kr_activity_end(tracks, track, activity, 0);
	else if (activity->name)
		draw(tracks, track, activity, KR_OPEN_SLICE, 0);
	clear(activity);
}

/* Return: the number of the track of a process, or of what stands for one. */
static uint64_t name_process(const struct kr_tracks *tracks, const struct kr_track *track)
{
	bool several = tracks->machines->machines->len > 1;
	uint64_t process = track->pid - base_of(track->machine);
	uint64_t number = kr_packets_track(tracks->packets);
	const char *name = process == KR_CPUS ? "CPUs" :
			   process == KR_LOSSES ? "lost events" :
			   process == KR_NOBODY ? "threads unknown" : track->name ?: "";
	char *full = g_strdup_printf("%s%s%s", several ? track->machine->name : "",
				     several ? ": " : "", name);

	if (process >= KR_CPUS)
		kr_packets_other(tracks->packets, number, 0, full, 0);
	else
		kr_packets_process(tracks->packets, number, track->pid, full);
	g_free(full);
	return number;
}

/* Return: the track after which a process is called: its first thread, or any. */
static const struct kr_track *first_of(const GList *at)
{
	const struct kr_track *first = at->data, *track;

	for (; at; at = at->next) {
		track = at->data;
		if (track->pid != first->pid)
			break;
		if (track->tid == track->pid)
			return track;
		if (!first->name)
			first = track;
	}
	return first;
}

static void name_track(const struct kr_tracks *tracks, const struct kr_track *track,
		       uint64_t process)
{
	char *full;

	if (!is_thread(track)) {
		kr_packets_other(tracks->packets, track->number, process, track->name,
				 track->tid - track->pid);
	} else if (track->pid - base_of(track->machine) == KR_NOBODY) {
		full = g_strdup_printf("%s %" PRId64, track->name ?: "", track->key.tid);
		kr_packets_other(tracks->packets, track->number, process, full, 0);
		g_free(full);
	} else {
		kr_packets_thread(tracks->packets, track->number, track->pid, track->tid,
				  track->name ?: "");
	}
	if (track->waited)
		kr_packets_other(tracks->packets, track->waits, track->number, "off CPU", 0);
}

static void name_tracks(const struct kr_tracks *tracks, const GList *sorted)
{
	const struct kr_track *last = NULL;
	uint64_t process = 0;
	const GList *at;

	for (at = sorted; at; at = at->next) {
		const struct kr_track *track = at->data;

		if (!last || last->pid != track->pid)
			process = name_process(tracks, first_of(at));
		name_track(tracks, track, process);
		last = track;
	}
}

void kr_tracks_end(struct kr_tracks *tracks)
{
	GList *sorted = g_list_sort(g_hash_table_get_values(tracks->tracks),
				    compare_tracks), *at;

	for (at = sorted; at; at = at->next) {
		struct kr_track *track = at->data;

		leave_open(tracks, track, &track->call);
		leave_open(tracks, track, &track->state);
	}
	name_tracks(tracks, sorted);
	g_list_free(sorted);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Tracks of threads and of CPUs, and what goes on there. */
#include <inttypes.h>
#include <string.h>
#include "chrome.h"
#include "json.h"
#include "track.h"

/* Processes of another machine get other numbers. */
#define MACHINE_PIDS	10000000

static void clear(struct kr_activity *activity)
{
	g_free(activity->name);
	if (activity->args)
		g_string_free(activity->args, TRUE);
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

void kr_tracks_init(struct kr_tracks *tracks, struct kr_chrome *chrome)
{
	tracks->chrome = chrome;
	tracks->machines = kr_machines_new();
	tracks->tracks = g_hash_table_new_full(kr_hash_thread, kr_equal_threads,
					       NULL, free_track);
}

void kr_tracks_destroy(struct kr_tracks *tracks)
{
	g_hash_table_destroy(tracks->tracks);
	kr_machines_free(tracks->machines);
}

uint64_t kr_tracks_base(const struct kr_machine *machine)
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

	track->tid = kr_tracks_base(track->machine) + event->task.tid;
	track->pid = kr_tracks_base(track->machine) +
		     (event->task.pid < 0 ? KR_NOBODY : event->task.pid);
	kr_track_set_name(track, event->task.procname);
	return track;
}

struct kr_track *kr_track_of_cpu(struct kr_tracks *tracks, const bt_trace *trace,
				 int64_t cpu, int64_t process)
{
	struct kr_thread key = { .trace = trace, .tid = -1 - process - cpu };
	struct kr_track *track = track_of(tracks, key);

	track->pid = kr_tracks_base(track->machine) + process;
	track->tid = track->pid + 1 + cpu;
	if (!track->name)
		track->name = cpu < 0 ? g_strdup("some CPU") :
				g_strdup_printf("CPU %" PRId64, cpu);
	return track;
}

void kr_append_arg(GString *args, const char *name, const char *value)
{
	if (args->len)
		g_string_append_c(args, ',');
	kr_json_append(args, name);
	g_string_append_c(args, ':');
	kr_json_append(args, value);
}

void kr_activity_begin(const struct kr_tracks *tracks,
		       struct kr_activity *activity, const char *name,
		       const char *category, int64_t now)
{
	activity->name = g_strdup(name);
	activity->category = category;
	activity->args = g_string_new(NULL);
	activity->begin = now;
	activity->mark = kr_losses_mark(&tracks->losses, now);
}

static void draw(const struct kr_tracks *tracks, const struct kr_track *track,
		 const struct kr_activity *activity, enum kr_phase phase, int64_t end)
{
	struct kr_chrome_event drawn = {
		.phase = phase, .name = activity->name,
		.category = activity->category, .begin = activity->begin,
		.end = end, .pid = track->pid, .tid = track->tid,
		.stack = activity->stack, .args = activity->args->str,
	};

	kr_chrome_append(tracks->chrome, &drawn);
}

void kr_activity_cut(const struct kr_tracks *tracks, const struct kr_track *track,
		     struct kr_activity *activity, const char *why)
{
	if (!activity->name)
		return;
	if (why)
		kr_append_arg(activity->args, "end", why);
	draw(tracks, track, activity, KR_INSTANT, 0);
	clear(activity);
}

void kr_activity_end(const struct kr_tracks *tracks, const struct kr_track *track,
		     struct kr_activity *activity, int64_t now)
{
	if (!activity->name)
		return;
	if (kr_losses_since(&tracks->losses, activity->mark)) {
		kr_activity_cut(tracks, track, activity,
				"not known: events were lost meanwhile");
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

static void leave_open(const struct kr_tracks *tracks, const struct kr_track *track,
		       struct kr_activity *activity)
{
	if (activity->name && kr_losses_since(&tracks->losses, activity->mark))
		kr_activity_end(tracks, track, activity, 0);
	else if (activity->name)
		draw(tracks, track, activity, KR_OPEN_SLICE, 0);
	clear(activity);
}

static void name_process(const struct kr_tracks *tracks,
			 const struct kr_machine *machine, uint64_t pid,
			 const char *name)
{
	bool several = tracks->machines->machines->len > 1;
	char *full = g_strdup_printf("%s%s%s", several ? machine->name : "",
				     several ? ": " : "", name);

	kr_chrome_name(tracks->chrome, pid, -1, full);
	g_free(full);
}

/* Name threads, and a process as its first thread is, or as any. */
static void name_tracks(const struct kr_tracks *tracks, GList *sorted)
{
	const struct kr_track *named = NULL;
	GList *at;

	for (at = sorted; at; at = at->next) {
		const struct kr_track *track = at->data;
		uint64_t process = track->pid - kr_tracks_base(track->machine);
		const char *name = process == KR_CPUS ? "CPUs" :
				   process == KR_NOBODY ? "threads unknown" :
				   track->name;

		if (track->name)
			kr_chrome_name(tracks->chrome, track->pid, track->tid,
				       track->name);
		if (!name || (named && named->pid == track->pid &&
			      track->tid != track->pid))
			continue;
		name_process(tracks, track->machine, track->pid, name);
		if (process == KR_CPUS && !(named && named->pid == track->pid))
			kr_chrome_sort(tracks->chrome, track->pid, -1);
		named = track;
	}
}

static void name_losses(const struct kr_tracks *tracks)
{
	const GPtrArray *machines = tracks->machines->machines;
	guint i;

	for (i = 0; i < machines->len; i++) {
		const struct kr_machine *machine = g_ptr_array_index(machines, i);
		uint64_t pid = kr_tracks_base(machine) + KR_LOSSES;

		if (!machine->has_losses)
			continue;
		name_process(tracks, machine, pid, "lost events");
		kr_chrome_sort(tracks->chrome, pid, -2);
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
	name_losses(tracks);
	g_list_free(sorted);
}

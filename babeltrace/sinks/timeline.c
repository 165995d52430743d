// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What each thread did, one after the other. */
#include "secret_hash.h"
#include "timeline.h"
#include "traced_machine.h"

struct kr_timeline {
	GHashTable *known;
	GPtrArray *lanes;
};

static guint hash_lane(gconstpointer key)
{
	const struct kr_lane *lane = key;

	return kr_hash_two(g_direct_hash(lane->machine), kr_hash_number(&lane->tid));
}

static gboolean equal_lanes(gconstpointer a, gconstpointer b)
{
	const struct kr_lane *x = a, *y = b;

	return x->machine == y->machine && x->tid == y->tid;
}

static void free_lane(gpointer data)
{
	struct kr_lane *lane = data;

	g_array_unref(lane->spans);
	g_free(lane);
}

struct kr_timeline *kr_timeline_new(void)
{
	struct kr_timeline *timeline = g_new0(struct kr_timeline, 1);

	timeline->known = g_hash_table_new(hash_lane, equal_lanes);
	timeline->lanes = g_ptr_array_new_with_free_func(free_lane);
	return timeline;
}

void kr_timeline_free(struct kr_timeline *timeline)
{
	if (!timeline)
		return;
	g_hash_table_destroy(timeline->known);
	g_ptr_array_unref(timeline->lanes);
	g_free(timeline);
}

void kr_timeline_add(struct kr_timeline *timeline, const struct kr_machine *machine,
		     int64_t pid, int64_t tid, const struct kr_span *span)
{
	const struct kr_lane key = { .machine = machine, .tid = tid };
	struct kr_lane *lane = g_hash_table_lookup(timeline->known, &key);

	if (!lane) {
		lane = g_new0(struct kr_lane, 1);
		*lane = key;
		lane->spans = g_array_new(FALSE, FALSE, sizeof(struct kr_span));
		g_ptr_array_add(timeline->lanes, lane);
		g_hash_table_add(timeline->known, lane);
	}
	lane->pid = pid;
	g_array_append_vals(lane->spans, span, 1);
}

static gint compare_lanes(gconstpointer a, gconstpointer b)
{
	const struct kr_lane *x = *(struct kr_lane *const *)a;
	const struct kr_lane *y = *(struct kr_lane *const *)b;

	if (x->machine != y->machine)
		return x->machine->number < y->machine->number ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* What lasts longer is what the other is within. */
static gint compare_spans(gconstpointer a, gconstpointer b)
{
	const struct kr_span *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

GPtrArray *kr_timeline_lanes(struct kr_timeline *timeline)
{
	guint i;

	g_ptr_array_sort(timeline->lanes, compare_lanes);
	for (i = 0; i < timeline->lanes->len; i++) {
		struct kr_lane *lane = g_ptr_array_index(timeline->lanes, i);

		g_array_sort(lane->spans, compare_spans);
	}
	return timeline->lanes;
}

/**
 * struct walk - how far the time was cut
 * @within: the spans that have begun and not ended, the last one last
 * @now: up to when
 */
struct walk {
	GPtrArray *within;
	int64_t now;
	void (*piece)(void *data, const struct kr_span *span, int64_t begin, int64_t end);
	void *data;
};

/* The innermost span goes on until then, or to its end. */
static void go_on(struct walk *walk, int64_t until)
{
	const struct kr_span *span = walk->within->len ?
		g_ptr_array_index(walk->within, walk->within->len - 1) : NULL;

	if (span)
		until = MIN(until, span->end);
	if (until > walk->now)
		walk->piece(walk->data, span, walk->now, until);
	walk->now = MAX(walk->now, until);
	if (span && span->end <= walk->now)
		g_ptr_array_set_size(walk->within, (gint)walk->within->len - 1);
}

void kr_lane_walk(const struct kr_lane *lane,
		  void (*piece)(void *data, const struct kr_span *span, int64_t begin,
				int64_t end), void *data)
{
	struct walk walk = {
		.within = g_ptr_array_new(), .now = INT64_MIN, .piece = piece, .data = data,
	};
	guint i;

	for (i = 0; i < lane->spans->len; i++) {
		struct kr_span *span = &g_array_index(lane->spans, struct kr_span, i);

		if (!i)
			walk.now = span->begin;
		while (walk.now < span->begin || (walk.within->len &&
		       ((const struct kr_span *)g_ptr_array_index(walk.within,
			walk.within->len - 1))->end <= walk.now))
			go_on(&walk, span->begin);
		if (span->end > span->begin)
			g_ptr_array_add(walk.within, span);
		else
			piece(data, span, span->begin, span->begin);
	}
	while (walk.within->len)
		go_on(&walk, INT64_MAX);
	g_ptr_array_unref(walk.within);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Threads over time for speedscope, in its own file format:
 * https://www.speedscope.app/file-format-schema.json
 *
 * Each thread is a profile of the type "sampled", whose samples are in the order of time.
 * A sample without frames is a gap. The type "evented" would name each frame twice for
 * each stack, and the file would be ten times as long.
 */
#include <inttypes.h>
#include <string.h>
#include "json.h"
#include "speedscope.h"
#include "timeline.h"

/**
 * struct writer - what is being written
 * @profile: its names are the file's frames, by their numbers
 * @what: what a sample weighs
 * @samples: JSON, of the thread at hand
 * @weights: likewise
 * @last: the last sample's span, which is longer if the next one has the same stack
 * @weight: what it weighs so far
 * @total: all before it
 * @path: scratch: names, innermost first
 */
struct writer {
	const struct kr_profile *profile;
	enum kr_weight what;
	GString *samples;
	GString *weights;
	struct kr_span last;
	uint64_t weight;
	uint64_t total;
	GArray *path;
};

/* No kind has this number. */
static const struct kr_span gap = { .kind = UINT32_MAX };

static bool same(const struct kr_span *a, const struct kr_span *b)
{
	return a->kind == b->kind && a->node == b->node;
}

static void append_stack(struct writer *writer, const struct kr_span *span)
{
	const struct kr_profile *profile = writer->profile;
	uint32_t node = span->node, i, event;
	GArray *path = writer->path;

	g_array_set_size(path, 0);
	if (span->kind != gap.kind) {
		event = kr_pairs_get(profile->kinds, span->kind).b;
		g_array_append_val(path, event);
	}
	while (node) {
		struct kr_pair pair = kr_pairs_get(profile->nodes, node - 1);

		g_array_append_val(path, pair.b);
		node = pair.a;
	}
	g_string_append(writer->samples, writer->samples->len ? ",\n[" : "[");
	for (i = path->len; i; i--)
		g_string_append_printf(writer->samples, "%" PRIu32 "%s",
				       g_array_index(path, uint32_t, i - 1),
				       i > 1 ? "," : "");
	g_string_append_c(writer->samples, ']');
}

/* Write the last sample. */
static void flush(struct writer *writer)
{
	if (!writer->weight)
		return;
	append_stack(writer, &writer->last);
	g_string_append_printf(writer->weights, "%s%" PRIu64,
			       writer->weights->len ? "," : "", writer->weight);
	writer->total += writer->weight;
	writer->weight = 0;
}

static void add(struct writer *writer, const struct kr_span *span, uint64_t weight)
{
	if (!same(span, &writer->last))
		flush(writer);
	writer->last = *span;
	writer->weight += weight;
}

static void add_piece(void *data, const struct kr_span *span, int64_t begin, int64_t end)
{
	add(data, span ?: &gap, (uint64_t)end - (uint64_t)begin);
}

static void add_spans(struct writer *writer, const struct kr_lane *lane)
{
	int64_t first = g_array_index(lane->spans, struct kr_span, 0).begin;
	guint i;

	if (writer->what == KR_NS) {
		/* All threads begin at once. */
		if (first > writer->profile->begin)
			add_piece(writer, NULL, writer->profile->begin, first);
		kr_lane_walk(lane, add_piece, writer);
	} else {
		for (i = 0; i < lane->spans->len; i++)
			add(writer, &g_array_index(lane->spans, struct kr_span, i), 1);
	}
	flush(writer);
}

static void append_name(const struct kr_profile *profile, GString *to, uint32_t name,
			bool with_machine)
{
	GString *whole = g_string_new(NULL);

	kr_profile_append_name(profile, whole, name, with_machine);
	kr_json_append(to, whole->str);
	g_string_free(whole, TRUE);
}

/* A thread is called as it was last. */
static void append_thread(struct writer *writer, GString *to, const struct kr_lane *lane)
{
	const struct kr_span *last = &g_array_index(lane->spans, struct kr_span,
						    lane->spans->len - 1);

	g_string_truncate(writer->samples, 0);
	g_string_truncate(writer->weights, 0);
	writer->total = 0;
	writer->last = gap;
	add_spans(writer, lane);
	g_string_append(to, "{\"type\":\"sampled\",\"name\":");
	append_name(writer->profile, to,
		    kr_pairs_get(writer->profile->kinds, last->kind).a,
		    kr_strings_count(writer->profile->machines) > 1);
	g_string_append_printf(to, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64
			       ",\n\"samples\":[", writer->what == KR_NS ? "nanoseconds" :
			       "none", writer->total);
	g_string_append_len(to, writer->samples->str, (gssize)writer->samples->len);
	g_string_append(to, "],\n\"weights\":[");
	g_string_append_len(to, writer->weights->str, (gssize)writer->weights->len);
	g_string_append(to, "]}");
}

static void append_frames(const struct kr_profile *profile, GString *to)
{
	uint32_t i;

	for (i = 0; i < kr_strings_count(profile->strings); i++) {
		const char *module = strchr(kr_strings_get(profile->strings, i), KR_PART);

		g_string_append(to, i ? ",\n{\"name\":" : "{\"name\":");
		append_name(profile, to, i, false);
		if (module[1]) {
			g_string_append(to, ",\"file\":");
			kr_json_append(to, module + 1);
		}
		g_string_append_c(to, '}');
	}
}

GString *kr_speedscope(const struct kr_profile *profile, struct kr_timeline *timeline,
		       enum kr_weight what)
{
	GPtrArray *lanes = kr_timeline_lanes(timeline);
	struct writer writer = {
		.profile = profile, .what = what, .samples = g_string_new(NULL),
		.weights = g_string_new(NULL),
		.path = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	GString *to = g_string_new(
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\":\"kunwind\",\"activeProfileIndex\":0,\n"
		"\"shared\":{\"frames\":[");
	guint i;

	append_frames(profile, to);
	g_string_append(to, "]},\n\"profiles\":[");
	for (i = 0; i < lanes->len; i++) {
		g_string_append(to, i ? ",\n" : "\n");
		append_thread(&writer, to, g_ptr_array_index(lanes, i));
	}
	g_string_append(to, "]}\n");
	g_string_free(writer.samples, TRUE);
	g_string_free(writer.weights, TRUE);
	g_array_unref(writer.path);
	return to;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Forms of output, read by others' libraries: see written.h. */
#include <glib.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>
#include "fuzz.h"
#include "perfetto.pb-c.h"
#include "pprof.pb-c.h"
#include "written.h"

void must_be_text(const char *bytes, gsize length)
{
	const char *at;

	must(g_utf8_validate(bytes, (gssize)length, NULL));
	for (at = bytes; at < bytes + length; at = g_utf8_next_char(at))
		must(*at == '\n' || *at == '\t' || g_unichar_isprint(g_utf8_get_char(at)));
}

static json_t *must_be_json(const char *bytes, gsize length)
{
	/* Numbers need not fit into int64_t: JavaScript takes them for floating point. */
	json_t *json = json_loadb(bytes, length, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);

	must(json);
	return json;
}

void must_be_page(const char *bytes, gsize length)
{
	static const char begin[] = " type=\"application/json\">\n", end[] = "</script>";
	const char *behind = bytes + length, *at = bytes, *to;
	u32 parts = 0;

	must(g_utf8_validate(bytes, (gssize)length, NULL));
	for (;; at = to) {
		at = memmem(at, (size_t)(behind - at), begin, strlen(begin));
		if (!at)
			break;
		at += strlen(begin);
		to = memmem(at, (size_t)(behind - at), end, strlen(end));
		must(to);
		json_decref(must_be_json(at, (gsize)(to - at)));
		parts++;
	}
	must(parts);
}

void must_be_speedscope(const char *bytes, gsize length)
{
	json_t *json = must_be_json(bytes, length);
	size_t i, j, k, frames = json_array_size(json_object_get(json_object_get(json, "shared"),
								"frames"));
	json_t *profile, *sample, *frame;

	must(json_is_array(json_object_get(json, "profiles")));
	json_array_foreach(json_object_get(json, "profiles"), i, profile) {
		json_t *samples = json_object_get(profile, "samples");

		must(json_array_size(samples) ==
		     json_array_size(json_object_get(profile, "weights")));
		json_array_foreach(samples, j, sample)
			json_array_foreach(sample, k, frame)
				must(json_is_number(frame) && json_number_value(frame) < frames);
	}
	json_decref(json);
}

static GByteArray *must_be_gzip(const char *bytes, gsize length)
{
	GByteArray *all = g_byte_array_new();
	z_stream stream = { .next_in = (u8 *)bytes, .avail_in = (unsigned int)length };
	u8 chunk[1 << 16];
	int status;

	must(inflateInit2(&stream, 15 + 16) == Z_OK);
	do {
		stream.next_out = chunk;
		stream.avail_out = sizeof(chunk);
		status = inflate(&stream, Z_NO_FLUSH);
		must(status == Z_OK || status == Z_STREAM_END);
		g_byte_array_append(all, chunk, sizeof(chunk) - stream.avail_out);
	} while (status != Z_STREAM_END);
	must(!stream.avail_in && inflateEnd(&stream) == Z_OK);
	return all;
}

/* Numbers are given once, and not 0. */
static void must_add(GHashTable *ids, uint64_t *id)
{
	must(*id && g_hash_table_add(ids, id));
}

static void must_have(GHashTable *ids, u64 id)
{
	must(g_hash_table_contains(ids, &id));
}

static GHashTable *new_ids(void)
{
	return g_hash_table_new(g_int64_hash, g_int64_equal);
}

static void must_be_locations(const Pprof__Profile *profile, GHashTable *locations)
{
	GHashTable *functions = new_ids(), *mappings = new_ids();
	size_t i, j;

	for (i = 0; i < profile->n_function; i++) {
		must_add(functions, &profile->function[i]->id);
		must((u64)profile->function[i]->name < profile->n_string_table);
	}
	for (i = 0; i < profile->n_mapping; i++)
		must_add(mappings, &profile->mapping[i]->id);
	for (i = 0; i < profile->n_location; i++) {
		const Pprof__Location *location = profile->location[i];

		must_add(locations, &profile->location[i]->id);
		if (location->mapping_id)
			must_have(mappings, location->mapping_id);
		for (j = 0; j < location->n_line; j++)
			must_have(functions, location->line[j]->function_id);
	}
	g_hash_table_destroy(functions);
	g_hash_table_destroy(mappings);
}

static void must_be_sample(const Pprof__Profile *profile, const Pprof__Sample *sample,
			   GHashTable *locations)
{
	size_t i;

	must(sample->n_value == profile->n_sample_type);
	for (i = 0; i < sample->n_location_id; i++)
		must_have(locations, sample->location_id[i]);
	for (i = 0; i < sample->n_label; i++)
		must((u64)sample->label[i]->key < profile->n_string_table &&
		     (u64)sample->label[i]->str < profile->n_string_table);
}

void must_be_pprof(const char *bytes, gsize length)
{
	GByteArray *all = must_be_gzip(bytes, length);
	Pprof__Profile *profile = pprof__profile__unpack(NULL, all->len, all->data);
	GHashTable *locations = new_ids();
	size_t i;

	must(profile && profile->n_string_table && !profile->string_table[0][0]);
	for (i = 0; i < profile->n_string_table; i++)
		must(g_utf8_validate(profile->string_table[i], -1, NULL));
	must_be_locations(profile, locations);
	for (i = 0; i < profile->n_sample; i++)
		must_be_sample(profile, profile->sample[i], locations);
	g_hash_table_destroy(locations);
	pprof__profile__free_unpacked(profile, NULL);
	g_byte_array_unref(all);
}

/* Names and stacks by their numbers, of which each kind has its own; and tracks. */
enum {
	CATEGORIES, NAMES, ARGUMENTS, FUNCTIONS, FRAMES, STACKS, BUILD_IDS, PATHS, SOURCES,
	MAPPINGS, TRACKS, NR_KINDS
};

/* An empty list is NULL, to which nothing may be added. */
#define for_each_of(at, list, count) \
	for (at = list; at && at < list + (count); at++)

static void must_be_frames(const Perfetto__InternedData *data, GHashTable *const *ids)
{
	Perfetto__Mapping **mapping;
	Perfetto__Callstack **stack;
	Perfetto__Frame **frame;
	size_t i;

	for_each_of(mapping, data->mappings, data->n_mappings) {
		must_add(ids[MAPPINGS], &(*mapping)->iid);
		if ((*mapping)->has_build_id)
			must_have(ids[BUILD_IDS], (*mapping)->build_id);
		for (i = 0; i < (*mapping)->n_path_string_ids; i++)
			must_have(ids[PATHS], (*mapping)->path_string_ids[i]);
	}
	for_each_of(frame, data->frames, data->n_frames) {
		must_add(ids[FRAMES], &(*frame)->iid);
		must_have(ids[FUNCTIONS], (*frame)->function_name_id);
		if ((*frame)->has_mapping_id)
			must_have(ids[MAPPINGS], (*frame)->mapping_id);
		if ((*frame)->has_source_path_iid)
			must_have(ids[SOURCES], (*frame)->source_path_iid);
	}
	for_each_of(stack, data->callstacks, data->n_callstacks) {
		must_add(ids[STACKS], &(*stack)->iid);
		for (i = 0; i < (*stack)->n_frame_ids; i++)
			must_have(ids[FRAMES], (*stack)->frame_ids[i]);
	}
}

static void must_be_interned(const Perfetto__InternedData *data, GHashTable *const *ids)
{
	Perfetto__InternedString **string;
	Perfetto__InternedName **name;

	for_each_of(name, data->event_categories, data->n_event_categories)
		must_add(ids[CATEGORIES], &(*name)->iid);
	for_each_of(name, data->event_names, data->n_event_names)
		must_add(ids[NAMES], &(*name)->iid);
	for_each_of(name, data->debug_annotation_names, data->n_debug_annotation_names)
		must_add(ids[ARGUMENTS], &(*name)->iid);
	for_each_of(string, data->function_names, data->n_function_names)
		must_add(ids[FUNCTIONS], &(*string)->iid);
	for_each_of(string, data->build_ids, data->n_build_ids)
		must_add(ids[BUILD_IDS], &(*string)->iid);
	for_each_of(string, data->mapping_paths, data->n_mapping_paths)
		must_add(ids[PATHS], &(*string)->iid);
	for_each_of(string, data->source_paths, data->n_source_paths)
		must_add(ids[SOURCES], &(*string)->iid);
	must_be_frames(data, ids);
}

static void must_be_event(const Perfetto__TrackEvent *event, GHashTable *const *ids)
{
	Perfetto__DebugAnnotation **argument;
	size_t i;

	for (i = 0; i < event->n_category_iids; i++)
		must_have(ids[CATEGORIES], event->category_iids[i]);
	if (event->has_name_iid)
		must_have(ids[NAMES], event->name_iid);
	if (event->has_callstack_iid)
		must_have(ids[STACKS], event->callstack_iid);
	for_each_of(argument, event->debug_annotations, event->n_debug_annotations) {
		must_have(ids[ARGUMENTS], (*argument)->name_iid);
		must(g_utf8_validate((*argument)->string_value, -1, NULL));
	}
	must_have(ids[TRACKS], event->track_uuid);
}

void must_be_perfetto(const char *bytes, gsize length)
{
	GByteArray *all = must_be_gzip(bytes, length);
	Perfetto__Trace *trace = perfetto__trace__unpack(NULL, all->len, all->data);
	GHashTable *ids[NR_KINDS];
	size_t i;

	must(trace);
	for (i = 0; i < NR_KINDS; i++)
		ids[i] = new_ids();
	/* A track can be described later, but interned data comes before it is referred to. */
	for (i = 0; i < trace->n_packet; i++)
		if (trace->packet[i]->track_descriptor)
			must_add(ids[TRACKS], &trace->packet[i]->track_descriptor->uuid);
	for (i = 0; i < trace->n_packet; i++) {
		if (trace->packet[i]->interned_data)
			must_be_interned(trace->packet[i]->interned_data, ids);
		if (trace->packet[i]->track_event)
			must_be_event(trace->packet[i]->track_event, ids);
	}
	for (i = 0; i < NR_KINDS; i++)
		g_hash_table_destroy(ids[i]);
	perfetto__trace__free_unpacked(trace, NULL);
	g_byte_array_unref(all);
}

/* Two words a record: a time; a type, a depth from bit 6 on, and an address from bit 16 on. */
static void must_be_calls(const char *bytes, gsize length)
{
	GArray *open = g_array_new(FALSE, FALSE, sizeof(u64));
	u64 word[2], address;
	s64 last = S64_MIN;
	gsize at;

	must(!(length % sizeof(word)));
	for (at = 0; at < length; at += sizeof(word)) {
		memcpy(word, bytes + at, sizeof(word));
		must((s64)word[0] >= last);
		last = (s64)word[0];
		address = word[1] >> 16;
		if (word[1] & 3) {
			must(open->len && g_array_index(open, u64, open->len - 1) == address);
			g_array_set_size(open, open->len - 1);
		}
		must((word[1] >> 6 & 0x3ff) == open->len);
		if (!(word[1] & 3))
			g_array_append_val(open, address);
	}
	must(!open->len);
	g_array_unref(open);
}

void must_be_uftrace(const char *bytes, gsize length)
{
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const char *end = bytes + length;
	u64 lengths[2];
	char *name;

	for (; bytes < end; bytes += lengths[1]) {
		must((size_t)(end - bytes) >= sizeof(lengths));
		memcpy(lengths, bytes, sizeof(lengths));
		bytes += sizeof(lengths);
		must(lengths[0] < NAME_MAX && lengths[0] <= (u64)(end - bytes));
		name = g_strndup(bytes, lengths[0]);
		bytes += lengths[0];
		must(lengths[1] <= (u64)(end - bytes));
		must(name[0] != '.' && !strchr(name, '/'));
		if (g_str_has_suffix(name, ".dat"))
			must_be_calls(bytes, lengths[1]);
		must(g_hash_table_add(names, name));
	}
	g_hash_table_destroy(names);
}

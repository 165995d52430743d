// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Interned data of a trace for Perfetto. */
#include <string.h>
#include "interned.h"
#include "locations.h"
#include "profile.h"
#include "safe.h"

/* Tables that only others refer to. */
enum {
	FUNCTIONS = KR_NR_NAMES,
	FILES,
	BUILD_IDS,
	PATHS,
	MAPPINGS,
	FRAMES,
	CALLSTACKS,
	NR_TABLES
};

/**
 * struct kr_interned - what there is
 * @write: of kr_interned_new()
 * @data: likewise
 * @profile: names, frames and callstacks; the number in the trace is one more, except
 *	     that of a callstack
 * @mappings: pairs of a module and its build ID, likewise
 * @written: of each number, whether the trace says what it is
 * @text: scratch
 * @ids: scratch
 */
struct kr_interned {
	void (*write)(void *data, Perfetto__InternedData *part);
	void *data;
	struct kr_profile *profile;
	struct kr_pairs *mappings;
	GByteArray *written[NR_TABLES];
	GString *text;
	GArray *ids;
};

struct kr_interned *kr_interned_new(void (*write)(void *data, Perfetto__InternedData *part),
				    void *data)
{
	struct kr_interned *interned = g_new0(struct kr_interned, 1);
	int i;

	interned->write = write;
	interned->data = data;
	interned->profile = kr_profile_new();
	kr_profile_locate(interned->profile);
	interned->mappings = kr_pairs_new();
	for (i = 0; i < NR_TABLES; i++)
		interned->written[i] = g_byte_array_new();
	interned->text = g_string_new(NULL);
	interned->ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return interned;
}

void kr_interned_free(struct kr_interned *interned)
{
	int i;

	kr_profile_free(interned->profile);
	kr_pairs_free(interned->mappings);
	for (i = 0; i < NR_TABLES; i++)
		g_byte_array_unref(interned->written[i]);
	g_string_free(interned->text, TRUE);
	g_array_unref(interned->ids);
	g_free(interned);
}

/* Return: whether the trace does not say yet what that is; from now on it does. */
static bool is_new(struct kr_interned *interned, int table, uint32_t number)
{
	GByteArray *written = interned->written[table];
	guint had = written->len;

	if (number >= had) {
		g_byte_array_set_size(written, number + number / 2 + 1);
		memset(written->data + had, 0, written->len - had);
	}
	if (written->data[number])
		return false;
	written->data[number] = 1;
	return true;
}

uint64_t kr_interned_name(struct kr_interned *interned, enum kr_table table,
			  const char *text)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedName name = PERFETTO__INTERNED_NAME__INIT, *list = &name;
	uint32_t number;

	g_string_truncate(interned->text, 0);
	kr_safe_append(interned->text, text);
	number = kr_strings_add(interned->profile->strings, interned->text->str);
	if (!is_new(interned, table, number))
		return number + 1;
	name.has_iid = true;
	name.iid = number + 1;
	name.name = interned->text->str;
	if (table == KR_CATEGORIES) {
		data.n_event_categories = 1;
		data.event_categories = &list;
	} else if (table == KR_EVENT_NAMES) {
		data.n_event_names = 1;
		data.event_names = &list;
	} else {
		data.n_debug_annotation_names = 1;
		data.debug_annotation_names = &list;
	}
	interned->write(interned->data, &data);
	return number + 1;
}

/*
 * Return: the number of a string of the profile in a table of strings. The format wants a
 * build ID as bytes.
 */
static uint64_t string_of(struct kr_interned *interned, int table, uint32_t string)
{
	const char *text = kr_strings_get(interned->profile->strings, string);
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString bytes = PERFETTO__INTERNED_STRING__INIT, *list = &bytes;
	char *of_hex = NULL;
	size_t i;

	if (!is_new(interned, table, string))
		return string + 1;
	bytes.has_iid = true;
	bytes.iid = string + 1;
	bytes.has_str = true;
	bytes.str.len = strlen(text);
	bytes.str.data = (uint8_t *)text;
	if (table == FUNCTIONS) {
		data.n_function_names = 1;
		data.function_names = &list;
	} else if (table == FILES) {
		data.n_source_paths = 1;
		data.source_paths = &list;
	} else if (table == PATHS) {
		data.n_mapping_paths = 1;
		data.mapping_paths = &list;
	} else {
		bytes.str.len /= 2;
		of_hex = g_malloc0(bytes.str.len + 1);
		for (i = 0; i < bytes.str.len; i++)
			of_hex[i] = (char)((g_ascii_xdigit_value(text[2 * i]) & 15) << 4 |
					   (g_ascii_xdigit_value(text[2 * i + 1]) & 15));
		bytes.str.data = (uint8_t *)of_hex;
		data.n_build_ids = 1;
		data.build_ids = &list;
	}
	interned->write(interned->data, &data);
	g_free(of_hex);
	return string + 1;
}

static bool is_empty(const struct kr_interned *interned, uint32_t string)
{
	return !kr_strings_get(interned->profile->strings, string)[0];
}

/* Return: the number of the file that a frame is in. */
static uint64_t mapping_of(struct kr_interned *interned, const struct kr_location *location)
{
	uint32_t number = kr_pairs_add(interned->mappings, location->module,
				       location->build_id);
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT, *list = &mapping;
	uint64_t path;

	if (!is_new(interned, MAPPINGS, number))
		return number + 1;
	path = string_of(interned, PATHS, location->module);
	mapping.has_iid = true;
	mapping.iid = number + 1;
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &path;
	if (!is_empty(interned, location->build_id)) {
		mapping.has_build_id = true;
		mapping.build_id = string_of(interned, BUILD_IDS, location->build_id);
	}
	data.n_mappings = 1;
	data.mappings = &list;
	interned->write(interned->data, &data);
	return number + 1;
}

static uint64_t frame_of(struct kr_interned *interned, uint32_t number)
{
	const struct kr_location *location =
		kr_locations_get(interned->profile->locations, number);
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT, *list = &frame;

	if (!is_new(interned, FRAMES, number))
		return number + 1;
	frame.has_iid = true;
	frame.iid = number + 1;
	frame.has_function_name_id = true;
	frame.function_name_id = string_of(interned, FUNCTIONS, location->name);
	if (!is_empty(interned, location->module)) {
		frame.has_mapping_id = true;
		frame.mapping_id = mapping_of(interned, location);
		frame.has_rel_pc = true;
		frame.rel_pc = location->address;
	}
	if (!is_empty(interned, location->file)) {
		frame.has_source_path_iid = true;
		frame.source_path_iid = string_of(interned, FILES, location->file);
	}
	frame.has_line_number = location->line != 0;
	frame.line_number = location->line;
	data.n_frames = 1;
	data.frames = &list;
	interned->write(interned->data, &data);
	return number + 1;
}

static void write_callstack(struct kr_interned *interned, uint32_t node)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack callstack = PERFETTO__CALLSTACK__INIT, *list = &callstack;
	GArray *ids = interned->ids;
	uint32_t at, i;

	g_array_set_size(ids, 0);
	for (at = node; at; at = kr_pairs_get(interned->profile->nodes, at - 1).a) {
		uint64_t id = frame_of(interned,
				       kr_pairs_get(interned->profile->nodes, at - 1).b);

		g_array_append_val(ids, id);
	}
	for (i = 0; i < ids->len / 2; i++) {
		uint64_t *a = &g_array_index(ids, uint64_t, i);
		uint64_t *b = &g_array_index(ids, uint64_t, ids->len - 1 - i);
		uint64_t kept = *a;

		*a = *b;
		*b = kept;
	}
	callstack.has_iid = true;
	callstack.iid = node;
	callstack.n_frame_ids = ids->len;
	callstack.frame_ids = (uint64_t *)(void *)ids->data;
	data.n_callstacks = 1;
	data.callstacks = &list;
	interned->write(interned->data, &data);
}

uint32_t kr_interned_stack(struct kr_interned *interned, const struct kr_stack *stack)
{
	uint32_t node = kr_profile_node(interned->profile, stack);

	if (node && is_new(interned, CALLSTACKS, node))
		write_callstack(interned, node);
	return node;
}

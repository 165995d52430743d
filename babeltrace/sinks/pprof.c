// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A profile for pprof (sinks/pprof.proto): events, and time where there is any.
 *
 * An address is the position in its module's file, and a mapping is a whole file. So the
 * processes that have mapped a file share it, wherever it was in their memory.
 *
 * The messages that make up the file are written one by one: in protobuf's format, messages
 * of one type, one after the other, are one message that has all their elements.
 */
#include <string.h>
#include "gzip.h"
#include "locations.h"
#include "pprof.h"
#include "pprof.pb-c.h"

/* What pprof, and others after it, call the kernel. */
#define KERNEL		"[kernel.kallsyms]"
#define PAGE		4096

#define NR_LABELS	4

/**
 * struct mapping - a file
 * @limit: the first address that is known to be behind it
 * @has_files: source files are known
 * @has_lines: lines are
 * @has_inlined: so are inlined functions
 */
struct mapping {
	uint64_t limit;
	bool has_files;
	bool has_lines;
	bool has_inlined;
};

/**
 * struct writer - what is being written
 * @profile: what it is of
 * @gzip: where to
 * @strings: the file's
 * @mappings: pairs of module and build ID; an ID is the pair's number plus 1
 * @limits: of each, struct mapping
 * @functions: pairs of name and source file; IDs likewise
 * @lines: pairs of a line further in and a location of the profile: a chain of lines,
 *	   whose number plus 1 stands for all of it, and is the ID of a location
 * @written: of each chain, whether the location is in the file
 * @ids: scratch: of a sample
 * @timed: time is known
 */
struct writer {
	const struct kr_profile *profile;
	struct kr_gzip gzip;
	struct kr_strings *strings;
	struct kr_pairs *mappings;
	GArray *limits;
	struct kr_pairs *functions;
	struct kr_pairs *lines;
	GByteArray *written;
	GArray *ids;
	bool timed;
};

static void write_part(struct writer *writer, const Pprof__Profile *part)
{
	protobuf_c_message_pack_to_buffer(&part->base, &writer->gzip.buffer);
}

static int64_t add_string(struct writer *writer, const char *string)
{
	return kr_strings_add(writer->strings, string);
}

static int64_t add_again(struct writer *writer, uint32_t number)
{
	return add_string(writer, kr_strings_get(writer->profile->strings, number));
}

static uint64_t function_of(struct writer *writer, const struct kr_location *location)
{
	uint32_t known = kr_pairs_count(writer->functions);
	uint32_t number = kr_pairs_add(writer->functions, location->name, location->file);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *list = &function;

	if (number == known) {
		function.id = number + 1;
		function.name = add_again(writer, location->name);
		function.system_name = function.name;
		function.filename = add_again(writer, location->file);
		part.n_function = 1;
		part.function = &list;
		write_part(writer, &part);
	}
	return number + 1;
}

/* Return: the ID of the file that a location is in; 0 if it is in none. */
static uint64_t mapping_of(struct writer *writer, const struct kr_location *location)
{
	struct mapping *mapping;
	uint32_t number;

	if (!kr_strings_get(writer->profile->strings, location->module)[0])
		return 0;
	number = kr_pairs_add(writer->mappings, location->module, location->build_id);
	if (number == writer->limits->len)
		g_array_set_size(writer->limits, number + 1);
	mapping = &g_array_index(writer->limits, struct mapping, number);
	mapping->limit = MAX(mapping->limit, location->address + 1);
	mapping->has_files |= kr_strings_get(writer->profile->strings, location->file)[0] != 0;
	mapping->has_lines |= location->line != 0;
	mapping->has_inlined |= location->inlined;
	return number + 1;
}

/* Write the location that a chain of lines is; the last one is outermost. */
static void write_location(struct writer *writer, uint32_t chain)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *list = &location;
	uint32_t at, n = 0, i;
	Pprof__Line *lines, **pointers;

	for (at = chain; at; at = kr_pairs_get(writer->lines, at - 1).a)
		n++;
	lines = g_new(Pprof__Line, n);
	pointers = g_new(Pprof__Line *, n);
	for (at = chain, i = n; at; at = kr_pairs_get(writer->lines, at - 1).a) {
		const struct kr_location *line = kr_locations_get(
			writer->profile->locations, kr_pairs_get(writer->lines, at - 1).b);

		i--;
		pprof__line__init(&lines[i]);
		pointers[i] = &lines[i];
		lines[i].function_id = function_of(writer, line);
		lines[i].line = line->line;
		location.mapping_id = mapping_of(writer, line);
		location.address = line->address;
	}
	location.id = chain;
	location.n_line = n;
	location.line = pointers;
	part.n_location = 1;
	part.location = &list;
	write_part(writer, &part);
	g_free(pointers);
	g_free(lines);
}

static void add_location(struct writer *writer, uint32_t chain)
{
	uint64_t id = chain;

	if (chain >= writer->written->len) {
		guint had = writer->written->len;

		g_byte_array_set_size(writer->written, chain + 1);
		memset(writer->written->data + had, 0, chain + 1 - had);
	}
	if (!writer->written->data[chain])
		write_location(writer, chain);
	writer->written->data[chain] = 1;
	g_array_append_val(writer->ids, id);
}

/* Inlined functions are lines of the location that they are inlined at. */
static void add_locations(struct writer *writer, uint32_t node)
{
	const struct kr_profile *profile = writer->profile;
	uint32_t chain = 0;

	g_array_set_size(writer->ids, 0);
	while (node) {
		struct kr_pair pair = kr_pairs_get(profile->nodes, node - 1);

		chain = 1 + kr_pairs_add(writer->lines, chain, pair.b);
		if (!kr_locations_get(profile->locations, pair.b)->inlined) {
			add_location(writer, chain);
			chain = 0;
		}
		node = pair.a;
	}
	if (chain)
		add_location(writer, chain);
}

static void add_label(struct writer *writer, Pprof__Sample *sample, const char *key,
		      const char *value, gssize length)
{
	Pprof__Label *label = sample->label[sample->n_label];
	char *copy = g_strndup(value, length < 0 ? strlen(value) : (gsize)length);

	if (copy[0]) {
		label->key = add_string(writer, key);
		label->str = add_string(writer, copy);
		sample->n_label++;
	}
	g_free(copy);
}

static void add_labels(struct writer *writer, Pprof__Sample *sample, struct kr_pair kind)
{
	const struct kr_profile *profile = writer->profile;
	const char *process = kr_strings_get(profile->strings, kind.a);
	const char *event = kr_strings_get(profile->strings, kind.b);
	const char *machine = strchr(process, KR_PART);
	const char *number = g_strrstr_len(process, machine - process, " [");
	const char *end = number && machine[-1] == ']' ? number : machine;

	/* pprof takes what looks like a number for one, and then finds no string. */
	add_label(writer, sample, "thread", process, machine - process);
	add_label(writer, sample, "process", process, end - process);
	add_label(writer, sample, "event", event, strchr(event, KR_PART) - event);
	if (kr_strings_count(profile->machines) > 1)
		add_label(writer, sample, "machine", machine + 1, -1);
}

static void write_sample(struct writer *writer, uint32_t number)
{
	const struct kr_profile *profile = writer->profile;
	struct kr_pair pair = kr_pairs_get(profile->samples, number);
	struct kr_weights weights = kr_profile_weights(profile, number);
	int64_t values[] = { (int64_t)weights.of[KR_EVENTS], (int64_t)weights.of[KR_NS] };
	Pprof__Label labels[NR_LABELS], *pointers[NR_LABELS];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *list = &sample;
	size_t i;

	for (i = 0; i < NR_LABELS; i++) {
		pprof__label__init(&labels[i]);
		pointers[i] = &labels[i];
	}
	sample.label = pointers;
	add_labels(writer, &sample, kr_pairs_get(profile->kinds, pair.a));
	add_locations(writer, pair.b);
	sample.n_location_id = writer->ids->len;
	sample.location_id = (uint64_t *)(void *)writer->ids->data;
	sample.n_value = 1 + writer->timed;
	sample.value = values;
	part.n_sample = 1;
	part.sample = &list;
	write_part(writer, &part);
}

static void write_mapping(struct writer *writer, uint32_t number)
{
	const struct kr_strings *strings = writer->profile->strings;
	struct kr_pair pair = kr_pairs_get(writer->mappings, number);
	const struct mapping *from = &g_array_index(writer->limits, struct mapping, number);
	const char *name = kr_strings_get(strings, pair.a);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;

	mapping.id = number + 1;
	mapping.memory_limit = (from->limit + PAGE - 1) & -(uint64_t)PAGE;
	mapping.filename = add_string(writer, strcmp(name, "[kernel]") ? name : KERNEL);
	mapping.build_id = add_again(writer, pair.b);
	/* pprof looks for names itself, unless it is said that they are here. */
	mapping.has_functions = true;
	mapping.has_filenames = from->has_files;
	mapping.has_line_numbers = from->has_lines;
	mapping.has_inline_frames = from->has_inlined;
	part.n_mapping = 1;
	part.mapping = &list;
	write_part(writer, &part);
}

static void write_types(struct writer *writer)
{
	Pprof__ValueType types[] = { PPROF__VALUE_TYPE__INIT, PPROF__VALUE_TYPE__INIT };
	Pprof__ValueType *list[] = { &types[0], &types[1] };
	Pprof__Profile part = PPROF__PROFILE__INIT;

	types[0].type = add_string(writer, "events");
	types[0].unit = add_string(writer, "count");
	types[1].type = add_string(writer, "time");
	types[1].unit = add_string(writer, "nanoseconds");
	part.n_sample_type = 1 + writer->timed;
	part.sample_type = list;
	part.default_sample_type = types[writer->timed].type;
	if (writer->profile->end >= writer->profile->begin) {
		part.time_nanos = writer->profile->begin;
		part.duration_nanos = (int64_t)MIN((uint64_t)writer->profile->end -
						   (uint64_t)writer->profile->begin,
						   (uint64_t)INT64_MAX);
	}
	write_part(writer, &part);
}

/* What is missing from the profile is said in it. */
static void write_notes(struct writer *writer)
{
	const GPtrArray *notes = writer->profile->notes;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	guint i;

	part.n_comment = notes->len;
	part.comment = g_new(int64_t, notes->len);
	for (i = 0; i < notes->len; i++)
		part.comment[i] = add_string(writer, g_ptr_array_index(notes, i));
	write_part(writer, &part);
	g_free(part.comment);
}

static void write_strings(struct writer *writer)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char *string;
	uint32_t i;

	part.n_string_table = 1;
	part.string_table = &string;
	for (i = 0; i < kr_strings_count(writer->strings); i++) {
		string = (char *)kr_strings_get(writer->strings, i);
		write_part(writer, &part);
	}
}

GString *kr_pprof(const struct kr_profile *profile)
{
	struct writer writer = {
		.profile = profile, .strings = kr_strings_new(), .mappings = kr_pairs_new(),
		.limits = g_array_new(FALSE, TRUE, sizeof(struct mapping)),
		.functions = kr_pairs_new(), .lines = kr_pairs_new(),
		.written = g_byte_array_new(),
		.ids = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.timed = profile->total.of[KR_NS] != 0,
	};
	GString *out;
	uint32_t i;

	kr_gzip_begin(&writer.gzip);
	(void)add_string(&writer, "");
	write_types(&writer);
	for (i = 0; i < profile->weights->len; i++)
		write_sample(&writer, i);
	for (i = 0; i < kr_pairs_count(writer.mappings); i++)
		write_mapping(&writer, i);
	write_notes(&writer);
	write_strings(&writer);
	out = kr_gzip_end(&writer.gzip);
	kr_strings_free(writer.strings);
	kr_pairs_free(writer.mappings);
	kr_pairs_free(writer.functions);
	kr_pairs_free(writer.lines);
	g_array_unref(writer.limits);
	g_array_unref(writer.ids);
	g_byte_array_unref(writer.written);
	return out;
}

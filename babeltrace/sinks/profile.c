// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Call stacks with what they weigh. */
#include <inttypes.h>
#include <string.h>
#include "format.h"
#include "locations.h"
#include "module.h"
#include "profile.h"
#include "resolved_stack.h"
#include "safe.h"
#include "secret_hash.h"

/* What a file is called. @base: its base name */
struct kr_named {
	char *name;
	char *base;
};

static void free_named(gpointer data)
{
	struct kr_named *named = data;

	g_free(named->name);
	g_free(named->base);
	g_free(named);
}

struct kr_profile *kr_profile_new(void)
{
	struct kr_profile *profile = g_new0(struct kr_profile, 1);

	profile->strings = kr_strings_new();
	profile->machines = kr_strings_new();
	profile->modules = g_hash_table_new_full(kr_hash_string, g_str_equal, g_free,
						  free_named);
	profile->files = g_hash_table_new_full(kr_hash_string, g_str_equal, g_free, NULL);
	profile->nodes = kr_pairs_new();
	profile->kinds = kr_pairs_new();
	profile->samples = kr_pairs_new();
	profile->weights = g_array_new(FALSE, TRUE, sizeof(struct kr_weights));
	profile->outcomes = g_array_new(FALSE, TRUE, sizeof(struct kr_outcome));
	profile->begin = INT64_MAX;
	profile->end = INT64_MIN;
	profile->notes = g_ptr_array_new_with_free_func(g_free);
	profile->name = g_string_new(NULL);
	profile->key = g_string_new(NULL);
	return profile;
}

struct kr_profile *kr_profile_new_after(const struct kr_profile *before)
{
	struct kr_profile *profile = kr_profile_new();
	GHashTableIter iter;
	gpointer base, count;

	profile->before = g_hash_table_ref(before->modules);
	g_hash_table_iter_init(&iter, before->files);
	while (g_hash_table_iter_next(&iter, &base, &count))
		g_hash_table_insert(profile->files, g_strdup(base), count);
	return profile;
}

void kr_profile_free(struct kr_profile *profile)
{
	kr_locations_free(profile->locations);
	kr_strings_free(profile->strings);
	kr_strings_free(profile->machines);
	g_hash_table_unref(profile->modules);
	if (profile->before)
		g_hash_table_unref(profile->before);
	g_hash_table_destroy(profile->files);
	kr_pairs_free(profile->nodes);
	kr_pairs_free(profile->kinds);
	kr_pairs_free(profile->samples);
	g_array_unref(profile->weights);
	g_array_unref(profile->outcomes);
	g_ptr_array_unref(profile->notes);
	g_string_free(profile->name, TRUE);
	g_string_free(profile->key, TRUE);
	g_free(profile);
}

/* Return: a name for another file with this base name. */
static char *name_file(struct kr_profile *profile, const char *base)
{
	guint number = 1 + GPOINTER_TO_UINT(g_hash_table_lookup(profile->files, base));
	GString *name = g_string_new(NULL);

	g_hash_table_replace(profile->files, g_strdup(base), GUINT_TO_POINTER(number));
	kr_safe_append(name, base);
	if (number > 1)
		g_string_append_printf(name, "#%u", number);
	return g_string_free(name, FALSE);
}

/* Containers have files with the same path: build IDs tell them apart, or paths do. */
static const char *module_of(struct kr_profile *profile, const struct kr_stack_frame *frame,
			     const char *base)
{
	const struct kr_named *before;
	GString *key = profile->key;
	struct kr_named *named;

	g_string_assign(key, frame->build_id[0] ? frame->build_id : frame->module);
	g_string_append_c(key, KR_PART);
	g_string_append(key, base);
	named = g_hash_table_lookup(profile->modules, key->str);
	if (!named) {
		before = profile->before ? g_hash_table_lookup(profile->before, key->str) : NULL;
		named = g_new0(struct kr_named, 1);
		named->name = before ? g_strdup(before->name) : name_file(profile, base);
		named->base = g_strdup(base);
		g_hash_table_insert(profile->modules, g_strdup(key->str), named);
	}
	return named->name;
}

/* Of each base name the only file of one profile that the other has not; "": there are several. */
static GHashTable *lonely_files(GHashTable *of, GHashTable *others)
{
	GHashTable *lonely = g_hash_table_new(kr_hash_string, g_str_equal);
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, of);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const struct kr_named *named = value;

		if (!g_hash_table_contains(others, key))
			g_hash_table_insert(lonely, named->base,
					    g_hash_table_contains(lonely, named->base) ?
					    (gpointer)"" : named->name);
	}
	return lonely;
}

/* A function without a name has that of its module, too. */
static void append_renamed(GString *to, const char *string, GHashTable *names)
{
	const char *part = strchr(string, KR_PART);
	const char *name = g_hash_table_lookup(names, part + 1);
	size_t length = strlen(part + 1);

	if (name && !strncmp(string, part + 1, length)) {
		g_string_append(to, name);
		string += length;
	}
	g_string_append_len(to, string, part + 1 - string);
	g_string_append(to, name ?: part + 1);
}

/* @names: new names of modules by the old ones */
static void rename_modules(struct kr_profile *profile, GHashTable *names)
{
	struct kr_strings *strings = kr_strings_new();
	uint32_t i;

	for (i = 0; i < kr_strings_count(profile->strings); i++) {
		g_string_truncate(profile->name, 0);
		append_renamed(profile->name, kr_strings_get(profile->strings, i), names);
		kr_strings_add(strings, profile->name->str);
	}
	/* Strings keep their numbers, unless a file is really called as a second one would be. */
	if (kr_strings_count(strings) == i) {
		kr_strings_free(profile->strings);
		profile->strings = strings;
	} else {
		kr_strings_free(strings);
	}
}

void kr_profile_pair(struct kr_profile *profile)
{
	GHashTable *gone = lonely_files(profile->before, profile->modules);
	GHashTable *new = lonely_files(profile->modules, profile->before);
	GHashTable *names = g_hash_table_new(kr_hash_string, g_str_equal);
	GHashTableIter iter;
	gpointer base, name;

	g_hash_table_iter_init(&iter, new);
	while (g_hash_table_iter_next(&iter, &base, &name)) {
		const char *other = g_hash_table_lookup(gone, base);

		if (((const char *)name)[0] && other && other[0])
			g_hash_table_insert(names, name, (gpointer)other);
	}
	if (g_hash_table_size(names))
		rename_modules(profile, names);
	g_hash_table_destroy(gone);
	g_hash_table_destroy(new);
	g_hash_table_destroy(names);
}

void kr_profile_locate(struct kr_profile *profile)
{
	profile->locations = kr_locations_new(profile->strings);
}

/*
 * Suffixes are those of perf's folded stacks, which flamegraph.pl colours. perf has none
 * for a frame that is guessed.
 */
static void set_name(struct kr_profile *profile, const struct kr_stack_frame *frame)
{
	const char *base = kr_base_name(frame->module);
	const char *module = module_of(profile, frame, base);
	GString *name = profile->name;

	g_string_truncate(name, 0);
	if (frame->function[0] && base[0] && kr_names_module(frame->function, base)) {
		g_string_append(name, module);
		kr_safe_append(name, frame->function + strlen(base));
	} else if (frame->function[0]) {
		kr_safe_append(name, frame->function);
	} else if (module[0] && frame->offset) {
		g_string_append(name, module);
		g_string_append_printf(name, "+%#" PRIx64, frame->offset);
	} else {
		g_string_append_printf(name, "%#" PRIx64, frame->address);
	}
	if (frame->kind == KR_KERNEL)
		g_string_append(name, "_[k]");
	else if (frame->kind == KR_INLINED)
		g_string_append(name, "_[i]");
	if (frame->guessed)
		g_string_append(name, "_[guessed]");
	g_string_append_c(name, KR_PART);
	g_string_append(name, module);
}

/* Return: the number of a frame's name, or of its location. */
static uint32_t number_of(struct kr_profile *profile, const struct kr_stack_frame *frame)
{
	if (profile->locations)
		return kr_locations_add(profile->locations, frame);
	set_name(profile, frame);
	return kr_strings_add(profile->strings, profile->name->str);
}

/* The same for frames that are missing. */
static uint32_t number_of_missing(struct kr_profile *profile, const char *stop)
{
	GString *name = profile->name;

	g_string_assign(name, "[truncated: ");
	kr_safe_append(name, stop);
	g_string_append_c(name, ']');
	if (profile->locations)
		return kr_locations_add_missing(profile->locations, name->str);
	g_string_append_c(name, KR_PART);
	return kr_strings_add(profile->strings, name->str);
}

uint32_t kr_profile_node(struct kr_profile *profile, const struct kr_stack *stack)
{
	struct kr_stack_frame frame;
	uint32_t node = 0;
	uint64_t i;

	profile->nr_stacks++;
	if (!kr_stack_is_whole(stack)) {
		profile->nr_cut++;
		node = 1 + kr_pairs_add(profile->nodes, node,
					number_of_missing(profile, stack->stop));
	}
	for (i = stack->count; i; i--) {
		kr_stack_frame(stack, i - 1, &frame);
		node = 1 + kr_pairs_add(profile->nodes, node, number_of(profile, &frame));
	}
	return node;
}

static uint32_t add_name(struct kr_profile *profile, const char *first,
			 const char *second)
{
	GString *name = profile->name;

	g_string_truncate(name, 0);
	kr_safe_append(name, first);
	g_string_append_c(name, KR_PART);
	kr_safe_append(name, second);
	return kr_strings_add(profile->strings, name->str);
}

uint32_t kr_profile_kind(struct kr_profile *profile, const char *process,
			 const char *machine, const char *event)
{
	uint32_t of = add_name(profile, process, machine);
	uint32_t kind = kr_pairs_add(profile->kinds, of, add_name(profile, event, ""));

	kr_strings_add(profile->machines, machine);
	if (kind == profile->outcomes->len)
		g_array_set_size(profile->outcomes, kind + 1);
	return kind;
}

uint32_t kr_profile_sample(struct kr_profile *profile, uint32_t kind,
			   uint32_t node)
{
	uint32_t sample = kr_pairs_add(profile->samples, kind, node);

	if (sample == profile->weights->len)
		g_array_set_size(profile->weights, sample + 1);
	return sample;
}

void kr_profile_add(struct kr_profile *profile, uint32_t sample,
		    enum kr_weight what, uint64_t weight)
{
	g_array_index(profile->weights, struct kr_weights, sample).of[what] +=
		weight;
	profile->total.of[what] += weight;
}

void kr_profile_end(struct kr_profile *profile, uint32_t kind, bool failed, uint64_t ns)
{
	struct kr_outcome *outcome = &g_array_index(profile->outcomes,
						    struct kr_outcome, kind);

	outcome->failed += failed;
	outcome->longest = MAX(outcome->longest, ns);
}

struct kr_outcome kr_profile_outcome(const struct kr_profile *profile, uint32_t kind)
{
	return g_array_index(profile->outcomes, struct kr_outcome, kind);
}

struct kr_weights kr_profile_weights(const struct kr_profile *profile,
				     uint32_t sample)
{
	return g_array_index(profile->weights, struct kr_weights, sample);
}

void kr_profile_append_name(const struct kr_profile *profile, GString *to, uint32_t name,
			    bool with_machine)
{
	const char *string = kr_strings_get(profile->strings, name);
	const char *part = strchr(string, KR_PART);

	if (with_machine && part[1])
		g_string_append_printf(to, "%s: ", part + 1);
	g_string_append_len(to, string, part - string);
}

static void append_name(const struct kr_profile *profile, GString *to,
			uint32_t name, bool with_machine)
{
	gsize i = to->len;

	kr_profile_append_name(profile, to, name, with_machine);
	/* Semicolons separate frames. */
	for (; i < to->len; i++)
		if (to->str[i] == ';')
			to->str[i] = ':';
}

static void append_line(const struct kr_profile *profile, GString *to,
			struct kr_pair sample, GArray *names)
{
	bool several = kr_strings_count(profile->machines) > 1;
	struct kr_pair kind = kr_pairs_get(profile->kinds, sample.a);
	uint32_t i, node;

	g_array_set_size(names, 0);
	for (node = sample.b; node;) {
		struct kr_pair pair = kr_pairs_get(profile->nodes, node - 1);

		g_array_append_val(names, pair.b);
		node = pair.a;
	}
	append_name(profile, to, kind.a, several);
	for (i = names->len; i; i--) {
		g_string_append_c(to, ';');
		append_name(profile, to, g_array_index(names, uint32_t, i - 1),
			    false);
	}
	g_string_append_c(to, ';');
	append_name(profile, to, kind.b, false);
}

GString *kr_profile_fold(const struct kr_profile *profile, enum kr_weight what)
{
	GArray *names = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GString *text = g_string_new(NULL);
	uint32_t i;

	for (i = 0; i < profile->weights->len; i++) {
		uint64_t weight = kr_profile_weights(profile, i).of[what];

		if (!weight)
			continue;
		append_line(profile, text, kr_pairs_get(profile->samples, i), names);
		g_string_append_printf(text, " %" PRIu64 "\n", weight);
	}
	g_array_unref(names);
	return text;
}

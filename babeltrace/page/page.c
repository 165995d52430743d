// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A profile as a page of HTML. Its data, which page/page.js reads, is one object:
 *
 *	first		the weight to show first: 0 events, 1 time
 *	names		strings; the second part of a name stands behind a tab
 *	nodes		[caller, name, ...]: node n is at 2 * (n - 1)
 *	kinds		[process, event, ...]: both are names
 *	samples		[kind, node, events, nanoseconds, ...]
 *	notes		sentences
 *
 * A page that compares has the data of what it compares with in another script, which
 * gets half of the room.
 */
#include <inttypes.h>
#include <string.h>
#include "json.h"
#include "page.h"
#include "prune.h"

/* Names of templates of C++ can have kilobytes. A hash keeps different names different. */
#define NAME_BYTES	300

static const char second[] = "</script>\n<script id=\"before\" type=\"application/json\">\n";

/* The fewest that a node takes. */
#define NODE_BYTES	8

/* In page_parts.S. */
extern const char kr_page_head[], kr_page_head_end[];
extern const char kr_page_tail[], kr_page_tail_end[];

static size_t head_bytes(void)
{
	return kr_page_head_end - kr_page_head;
}

static size_t tail_bytes(void)
{
	return kr_page_tail_end - kr_page_tail;
}

/* Return: how long what is behind a name is: page.js reads it from the end. */
static size_t suffix_of(const char *part, size_t length)
{
	static const char *const suffixes[] = { "_[guessed]", "_[k]", "_[i]" };
	size_t all = 0, i;

	for (i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		size_t bytes = strlen(suffixes[i]);

		if (length - all >= bytes &&
		    !memcmp(part + length - all - bytes, suffixes[i], bytes))
			all += bytes;
	}
	return all;
}

static void append_part(GString *to, const char *part, size_t length)
{
	size_t suffix = suffix_of(part, length), name = length - suffix;

	if (name > NAME_BYTES) {
		char *whole = g_strndup(part, name);

		g_string_append_len(to, part, NAME_BYTES);
		g_string_append_printf(to, "...%08x", g_str_hash(whole));
		g_free(whole);
	} else {
		g_string_append_len(to, part, (gssize)name);
	}
	g_string_append_len(to, part + name, suffix);
}

static void append_names(GString *to, const struct kr_strings *names)
{
	GString *name = g_string_new(NULL);
	uint32_t i;

	for (i = 0; i < kr_strings_count(names); i++) {
		const char *string = kr_strings_get(names, i);
		const char *part = strchr(string, KR_PART);

		g_string_truncate(name, 0);
		append_part(name, string, part - string);
		g_string_append_c(name, KR_PART);
		append_part(name, part + 1, strlen(part + 1));
		if (i)
			g_string_append(to, ",\n");
		kr_json_append_in_html(to, name->str);
	}
	g_string_free(name, TRUE);
}

static void append_pairs(GString *to, const struct kr_pairs *pairs)
{
	uint32_t i;

	for (i = 0; i < kr_pairs_count(pairs); i++) {
		struct kr_pair pair = kr_pairs_get(pairs, i);

		g_string_append_printf(to, "%s%" PRIu32 ",%" PRIu32, i ? "," : "",
				       pair.a, pair.b);
	}
}

static void append_samples(GString *to, const struct kr_profile *profile)
{
	uint32_t i;

	for (i = 0; i < kr_pairs_count(profile->samples); i++) {
		struct kr_pair sample = kr_pairs_get(profile->samples, i);
		struct kr_weights weights = kr_profile_weights(profile, i);

		g_string_append_printf(to,
			"%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64,
			i ? "," : "", sample.a, sample.b,
			weights.of[KR_EVENTS], weights.of[KR_NS]);
	}
}

static void append_notes(GString *to, const GPtrArray *notes)
{
	guint i;

	for (i = 0; i < notes->len; i++) {
		if (i)
			g_string_append_c(to, ',');
		kr_json_append_in_html(to, g_ptr_array_index(notes, i));
	}
}

static GString *data_of(const struct kr_profile *profile, enum kr_weight first)
{
	GString *data = g_string_new(NULL);

	g_string_append_printf(data, "{\"first\":%d,\n\"names\":[", first);
	append_names(data, profile->strings);
	g_string_append(data, "],\n\"nodes\":[");
	append_pairs(data, profile->nodes);
	g_string_append(data, "],\n\"kinds\":[");
	append_pairs(data, profile->kinds);
	g_string_append(data, "],\n\"samples\":[");
	append_samples(data, profile);
	g_string_append(data, "],\n\"notes\":[");
	append_notes(data, profile->notes);
	g_string_append(data, "]}\n");
	return data;
}

/* Return: the data of as much of the profile as there is room for. */
static GString *data_that_fits(const struct kr_profile *profile,
			       enum kr_weight first, size_t room)
{
	struct kr_sums *sums = kr_sums_of(profile);
	GString *data = NULL;
	double least = 0;

	do {
		while (kr_sums_heavier(sums, least) * NODE_BYTES > room)
			least = least ? 2 * least : 1e-7;
		if (data)
			g_string_free(data, TRUE);
		if (least) {
			struct kr_profile *pruned = kr_prune(profile, sums, least);

			data = data_of(pruned, first);
			kr_profile_free(pruned);
		} else {
			data = data_of(profile, first);
		}
		least = least ? 2 * least : 1e-7;
	} while (data->len > room);
	kr_sums_free(sums);
	return data;
}

GString *kr_page(const struct kr_profile *profile, const struct kr_profile *before,
		 enum kr_weight first)
{
	size_t room = (KR_PAGE_BYTES - head_bytes() - tail_bytes()) / (before ? 2 : 1);
	GString *data = data_that_fits(profile, first, room), *other;

	if (before) {
		other = data_that_fits(before, first, room - sizeof(second));
		g_string_append(data, second);
		g_string_append_len(data, other->str, (gssize)other->len);
		g_string_free(other, TRUE);
	}
	g_string_prepend_len(data, kr_page_head, head_bytes());
	g_string_append_len(data, kr_page_tail, tail_bytes());
	return data;
}

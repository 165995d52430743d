// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Numbers for strings, and for pairs of numbers. */
#include <glib.h>
#include "numbering.h"
#include "secret_hash.h"

struct kr_strings {
	GHashTable *numbers;
	GPtrArray *strings;
};

struct kr_strings *kr_strings_new(void)
{
	struct kr_strings *strings = g_new0(struct kr_strings, 1);

	strings->numbers = g_hash_table_new(kr_hash_string, g_str_equal);
	strings->strings = g_ptr_array_new_with_free_func(g_free);
	return strings;
}

void kr_strings_free(struct kr_strings *strings)
{
	g_hash_table_destroy(strings->numbers);
	g_ptr_array_unref(strings->strings);
	g_free(strings);
}

uint32_t kr_strings_add(struct kr_strings *strings, const char *string)
{
	gpointer number;
	char *copy;

	if (g_hash_table_lookup_extended(strings->numbers, string, NULL, &number))
		return GPOINTER_TO_UINT(number);
	copy = g_strdup(string);
	g_ptr_array_add(strings->strings, copy);
	number = GUINT_TO_POINTER(strings->strings->len - 1);
	g_hash_table_insert(strings->numbers, copy, number);
	return GPOINTER_TO_UINT(number);
}

const char *kr_strings_get(const struct kr_strings *strings, uint32_t number)
{
	return g_ptr_array_index(strings->strings, number);
}

uint32_t kr_strings_count(const struct kr_strings *strings)
{
	return strings->strings->len;
}

/* A pair fits into the pointer that is its key. */
G_STATIC_ASSERT(sizeof(gpointer) == sizeof(uint64_t));

struct kr_pairs {
	GHashTable *numbers;
	GArray *pairs;
};

static guint hash_pair(gconstpointer key)
{
	const uint64_t pair = (uintptr_t)key;

	return kr_hash_number(&pair);
}

struct kr_pairs *kr_pairs_new(void)
{
	struct kr_pairs *pairs = g_new0(struct kr_pairs, 1);

	pairs->numbers = g_hash_table_new(hash_pair, NULL);
	pairs->pairs = g_array_new(FALSE, FALSE, sizeof(struct kr_pair));
	return pairs;
}

void kr_pairs_free(struct kr_pairs *pairs)
{
	g_hash_table_destroy(pairs->numbers);
	g_array_unref(pairs->pairs);
	g_free(pairs);
}

uint32_t kr_pairs_add(struct kr_pairs *pairs, uint32_t a, uint32_t b)
{
	gpointer key = (gpointer)((uintptr_t)a << 32 | b), number;
	struct kr_pair pair = { .a = a, .b = b };

	if (g_hash_table_lookup_extended(pairs->numbers, key, NULL, &number))
		return GPOINTER_TO_UINT(number);
	g_array_append_val(pairs->pairs, pair);
	number = GUINT_TO_POINTER(pairs->pairs->len - 1);
	g_hash_table_insert(pairs->numbers, key, number);
	return GPOINTER_TO_UINT(number);
}

struct kr_pair kr_pairs_get(const struct kr_pairs *pairs, uint32_t number)
{
	return g_array_index(pairs->pairs, struct kr_pair, number);
}

uint32_t kr_pairs_count(const struct kr_pairs *pairs)
{
	return pairs->pairs->len;
}

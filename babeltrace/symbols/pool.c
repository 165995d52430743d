// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* As g_string_chunk_insert_const(), which has a hash that others know: see secret_hash.h. */
#include <glib.h>
#include "pool.h"
#include "secret_hash.h"

#define CHUNK_BYTES	4096

struct kr_pool {
	GHashTable *known;
	GStringChunk *strings;
};

struct kr_pool *kr_pool_new(void)
{
	struct kr_pool *pool = g_new0(struct kr_pool, 1);

	pool->known = g_hash_table_new(kr_hash_string, g_str_equal);
	pool->strings = g_string_chunk_new(CHUNK_BYTES);
	return pool;
}

void kr_pool_free(struct kr_pool *pool)
{
	g_hash_table_destroy(pool->known);
	g_string_chunk_free(pool->strings);
	g_free(pool);
}

const char *kr_pool_add(struct kr_pool *pool, const char *string)
{
	char *known = g_hash_table_lookup(pool->known, string);

	if (!known) {
		known = g_string_chunk_insert(pool->strings, string);
		g_hash_table_add(pool->known, known);
	}
	return known;
}

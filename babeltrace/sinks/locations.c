// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Frames with all that is known of them. */
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include "locations.h"
#include "module.h"
#include "resolved_stack.h"
#include "safe.h"
#include "secret_hash.h"

/* Frames are compared as memory. */
G_STATIC_ASSERT(sizeof(struct kr_location) == 32);

struct kr_locations {
	struct kr_strings *strings;
	GHashTable *numbers;
	GPtrArray *locations;
	GString *name;
};

static guint hash_location(gconstpointer key)
{
	return kr_hash_bytes(key, sizeof(struct kr_location));
}

static gboolean equal_locations(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct kr_location));
}

struct kr_locations *kr_locations_new(struct kr_strings *strings)
{
	struct kr_locations *locations = g_new0(struct kr_locations, 1);

	locations->strings = strings;
	locations->numbers = g_hash_table_new(hash_location, equal_locations);
	locations->locations = g_ptr_array_new_with_free_func(g_free);
	locations->name = g_string_new(NULL);
	return locations;
}

void kr_locations_free(struct kr_locations *locations)
{
	if (!locations)
		return;
	g_hash_table_destroy(locations->numbers);
	g_ptr_array_unref(locations->locations);
	g_string_free(locations->name, TRUE);
	g_free(locations);
}

static uint32_t add_safe(struct kr_locations *locations, const char *string)
{
	g_string_truncate(locations->name, 0);
	kr_safe_append(locations->name, string);
	return kr_strings_add(locations->strings, locations->name->str);
}

/* What is not proven says so wherever it is shown. */
static uint32_t add_name(struct kr_locations *locations, const struct kr_stack_frame *frame)
{
	const char *module = kr_base_name(frame->module);
	GString *name = locations->name;

	g_string_truncate(name, 0);
	if (frame->function[0]) {
		kr_safe_append(name, frame->function);
	} else if (module[0] && frame->offset) {
		kr_safe_append(name, module);
		g_string_append_printf(name, "+%#" PRIx64, frame->offset);
	} else {
		g_string_append_printf(name, "%#" PRIx64, frame->address);
	}
	if (frame->guessed)
		g_string_append(name, " [guessed]");
	return kr_strings_add(locations->strings, name->str);
}

static uint32_t add(struct kr_locations *locations, const struct kr_location *location)
{
	gpointer number;

	if (g_hash_table_lookup_extended(locations->numbers, location, NULL, &number))
		return GPOINTER_TO_UINT(number);
	number = GUINT_TO_POINTER(locations->locations->len);
	g_ptr_array_add(locations->locations, g_memdup2(location, sizeof(*location)));
	g_hash_table_insert(locations->numbers,
		g_ptr_array_index(locations->locations, GPOINTER_TO_UINT(number)), number);
	return GPOINTER_TO_UINT(number);
}

uint32_t kr_locations_add(struct kr_locations *locations,
			  const struct kr_stack_frame *frame)
{
	const struct kr_location location = {
		.address = frame->position ?: frame->address,
		.name = add_name(locations, frame),
		.module = add_safe(locations, frame->module),
		.build_id = add_safe(locations, frame->build_id),
		.file = add_safe(locations, frame->file),
		.line = (uint32_t)frame->line,
		.inlined = frame->kind == KR_INLINED,
	};

	return add(locations, &location);
}

uint32_t kr_locations_add_missing(struct kr_locations *locations, const char *name)
{
	const uint32_t empty = kr_strings_add(locations->strings, "");
	const struct kr_location location = {
		.name = add_safe(locations, name), .module = empty, .build_id = empty,
		.file = empty,
	};

	return add(locations, &location);
}

const struct kr_location *kr_locations_get(const struct kr_locations *locations,
					   uint32_t number)
{
	return g_ptr_array_index(locations->locations, number);
}

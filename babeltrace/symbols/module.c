// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The files of a trace; another process reads them. */
#include <glib.h>
#include <string.h>
#include "keeper.h"
#include "module.h"
#include "notes.h"
#include "parent.h"
#include "pool.h"
#include "secret_hash.h"

/**
 * struct kr_modules - the files of a trace
 * @modules: struct kr_module by struct kr_module_id
 * @strings: names
 * @notes: what is missing
 * @keeper: the process that reads them; NULL: the parent has it
 * @parent: the end of a socket, or -1
 */
struct kr_modules {
	GHashTable *modules;
	struct kr_pool *strings;
	struct kr_notes *notes;
	struct kr_keeper *keeper;
	int parent;
};

/* Of all traces: several filters can have the same parent. */
static gint files;

/**
 * struct kr_module - a file
 * @modules: among which it is
 * @id: what the trace says of it; it owns the path and the build ID
 * @number: the keeper's
 * @build_id: in hexadecimal
 * @places: struct kr_place by offset and whether it is a call
 * @reopened: see kr_module_was_reopened()
 */
struct kr_module {
	struct kr_modules *modules;
	struct kr_module_id id;
	guint32 number;
	char *build_id;
	GHashTable *places;
	bool reopened;
};

const char *kr_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return path[0] == '/' && slash[1] ? slash + 1 : path;
}

static guint hash_id(gconstpointer key)
{
	const struct kr_module_id *id = key;
	const uint64_t place[] = { id->dev, id->inode };

	return kr_hash_two(kr_hash_string(id->path),
			   id->build_id_len ? kr_hash_bytes(id->build_id, id->build_id_len) :
					      kr_hash_bytes(place, sizeof(place)));
}

/* Without a build ID, device and inode tell files of one name apart. */
static gboolean equal_id(gconstpointer a, gconstpointer b)
{
	const struct kr_module_id *x = a, *y = b;

	if (x->build_id_len != y->build_id_len || strcmp(x->path, y->path))
		return FALSE;
	if (!x->build_id_len)
		return x->dev == y->dev && x->inode == y->inode;
	return !memcmp(x->build_id, y->build_id, x->build_id_len);
}

static void free_module(gpointer data)
{
	struct kr_module *module = data;

	g_hash_table_destroy(module->places);
	g_free((void *)module->id.path);
	g_free((void *)module->id.build_id);
	g_free(module->build_id);
	g_free(module);
}

struct kr_modules *kr_modules_new(const char *sysroot, bool by_name, int parent,
				  struct kr_notes *notes)
{
	struct kr_modules *modules = g_new0(struct kr_modules, 1);

	modules->modules = g_hash_table_new_full(hash_id, equal_id, NULL,
						 free_module);
	modules->strings = kr_pool_new();
	modules->notes = notes;
	modules->parent = parent;
	if (parent < 0)
		modules->keeper = kr_keeper_new(sysroot, by_name, NULL);
	return modules;
}

bool kr_modules_start(struct kr_modules *modules)
{
	return !modules->keeper || kr_keeper_start(modules->keeper);
}

void kr_modules_free(struct kr_modules *modules)
{
	if (modules->keeper)
		kr_keeper_free(modules->keeper);
	g_hash_table_destroy(modules->modules);
	kr_pool_free(modules->strings);
	g_free(modules);
}

static char *hex_of(const uint8_t *bytes, size_t length)
{
	GString *hex = g_string_sized_new(2 * length);
	size_t i;

	for (i = 0; i < length; i++)
		g_string_append_printf(hex, "%02x", bytes[i]);
	return g_string_free(hex, FALSE);
}

struct kr_module *kr_module_get(struct kr_modules *modules,
				const struct kr_module_id *id)
{
	struct kr_module *module = g_hash_table_lookup(modules->modules, id);

	if (module)
		return module;
	module = g_new0(struct kr_module, 1);
	module->modules = modules;
	module->id = *id;
	module->id.path = g_strdup(id->path);
	module->number = (guint32)g_atomic_int_add(&files, 1);
	module->id.build_id = g_memdup2(id->build_id, id->build_id_len);
	module->build_id = hex_of(id->build_id, id->build_id_len);
	module->places = g_hash_table_new_full(kr_hash_number, g_int64_equal, g_free,
					       g_free);
	g_hash_table_insert(modules->modules, &module->id, module);
	return module;
}

const char *kr_module_path(const struct kr_module *module)
{
	return module->id.path;
}

const char *kr_module_build_id(const struct kr_module *module)
{
	return module->build_id;
}

/* Return: the place that an answer has; NULL if it has none. */
static struct kr_place *unpack(struct kr_pool *strings, GVariant *frames)
{
	gsize i, n = g_variant_n_children(frames);
	const char *function, *file;
	struct kr_place *place;
	gboolean inlined;

	if (!n)
		return NULL;
	place = kr_place_new((uint32_t)n);
	for (i = 0; i < n; i++) {
		struct kr_frame *frame = &place->frames[i];
		GVariant *child = g_variant_get_child_value(frames, i);

		g_variant_get(child, "(^&ay^&aytub)", &function, &file, &frame->offset,
			      &frame->line, &inlined);
		frame->function = kr_pool_add(strings, function);
		frame->file = kr_pool_add(strings, file);
		frame->inlined = inlined;
		g_variant_unref(child);
	}
	return place;
}

static struct kr_place *look_up(struct kr_module *module, uint64_t offset,
				bool call)
{
	struct kr_modules *modules = module->modules;
	struct kr_place *place = NULL;
	GVariant *said, *frames;
	gboolean signal, by_fde, guessed;
	struct kr_about about;
	enum kr_note why;

	said = modules->keeper ?
	       kr_keeper_look(modules->keeper, module->number, &module->id, offset, call,
			      &about) :
	       kr_parent_look(modules->parent, module->number, &module->id, offset, call,
			      &about);
	why = about.why;
	module->reopened |= about.again;
	if (said) {
		g_variant_get(said, "(bbb@a(ayaytub))", &signal, &by_fde, &guessed, &frames);
		place = unpack(modules->strings, frames);
		if (place) {
			place->signal = signal;
			place->by_fde = by_fde;
			place->guessed = guessed;
		}
		g_variant_unref(frames);
		g_variant_unref(said);
	}
	/* What is not from a file has none to miss. */
	if (why < KR_NR_NOTES && module->id.path[0] == '/')
		kr_note(modules->notes, why, module->id.path);
	if ((why == KR_NR_NOTES || why == KR_UNCHECKED) && (!place || place->by_fde) &&
	    module->id.path[0] == '/')
		kr_note(modules->notes, KR_NO_SYMBOLS, module->id.path);
	if (!place) {
		place = kr_place_new(1);
		place->frames[0].offset = offset;
	}
	return place;
}

const struct kr_place *kr_module_resolve(struct kr_module *module,
					 uint64_t offset, bool call)
{
	uint64_t key = offset << 1 | call;
	struct kr_place *place = g_hash_table_lookup(module->places, &key);

	if (!place) {
		place = look_up(module, offset, call);
		g_hash_table_insert(module->places, g_memdup2(&key, sizeof(key)),
				    place);
	}
	return place;
}

bool kr_module_was_reopened(struct kr_module *module)
{
	bool reopened = module->reopened;

	module->reopened = false;
	return reopened;
}

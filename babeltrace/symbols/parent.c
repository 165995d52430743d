// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Questions of a reader to its parent, and the answers. */
#include <string.h>
#include "keeper.h"
#include "package.h"
#include "parent.h"
#include "reader_budgets.h"
#include "secret_hash.h"
#include "wire.h"

/* Bytes of paths in a question: the rest of the message says where each of them ends. */
#define PATHS_BYTES	(KR_MESSAGE_BYTES / 2)

/* What is around an answer. */
#define AROUND_BYTES	64

/* Return: the answer; NULL if there is no parent any more. */
static GVariant *ask(int parent, enum kr_wire kind, GVariant *body, enum kr_wire answer)
{
	GVariant *said = NULL;

	if (kr_wire_send(parent, kind, body, -1))
		said = kr_wire_receive(parent, &kind, NULL);
	if (said && kind != answer)
		g_clear_pointer(&said, g_variant_unref);
	return said;
}

GVariant *kr_parent_look(int parent, uint32_t number, const struct kr_module_id *id,
			 uint64_t offset, bool call, struct kr_about *about)
{
	GVariant *said = NULL, *answer = NULL;
	guint32 note = KR_STOPPED;
	gboolean again = false;

	if (strlen(id->path) + id->build_id_len <= PATHS_BYTES)
		said = ask(parent, KR_RESOLVE,
			   g_variant_new("(u@ay@aytttb)", number,
					 g_variant_new_bytestring(id->path),
					 kr_wire_bytes(id->build_id, id->build_id_len),
					 id->dev, id->inode, offset, (gboolean)call),
			   KR_RESOLVED);
	if (said) {
		g_variant_get(said, "(ubm@" KR_ANSWER_TYPE ")", &note, &again, &answer);
		g_variant_unref(said);
	}
	*about = (struct kr_about) { .why = note, .again = again };
	return answer;
}

GPtrArray *kr_parent_packages(int parent, GHashTable *paths)
{
	GPtrArray *packages = g_ptr_array_new_with_free_func(g_free);
	GVariant *said, *names;
	GVariantBuilder asked;
	GHashTableIter iter;
	gsize i, bytes = 0;
	const char *name;
	gpointer path;

	g_variant_builder_init(&asked, G_VARIANT_TYPE("aay"));
	g_hash_table_iter_init(&iter, paths);
	while (g_hash_table_iter_next(&iter, &path, NULL) &&
	       (bytes += strlen(path) + 1) <= PATHS_BYTES)
		g_variant_builder_add_value(&asked, g_variant_new_bytestring(path));
	said = ask(parent, KR_ASK_PACKAGES, g_variant_new("(aay)", &asked), KR_PACKAGES);
	if (!said)
		return packages;
	names = g_variant_get_child_value(said, 0);
	for (i = 0; i < g_variant_n_children(names); i++) {
		g_variant_get_child(names, i, "^&ay", &name);
		g_ptr_array_add(packages, g_strdup(name));
	}
	g_variant_unref(names);
	g_variant_unref(said);
	return packages;
}

static bool serve_resolve(int reader, struct kr_keeper *keeper, GVariant *body)
{
	GVariant *bytes, *answer, *said;
	struct kr_module_id id = { 0 };
	struct kr_about about;
	uint64_t offset;
	guint32 number;
	gboolean call;
	gsize length;

	g_variant_get(body, "(u^&ay@aytttb)", &number, &id.path, &bytes, &id.dev,
		      &id.inode, &offset, &call);
	id.build_id = g_variant_get_fixed_array(bytes, &length, 1);
	id.build_id_len = length;
	answer = kr_keeper_look(keeper, number, &id, offset, call, &about);
	g_variant_unref(bytes);
	if (answer && g_variant_get_size(answer) > KR_MESSAGE_BYTES - AROUND_BYTES) {
		g_clear_pointer(&answer, g_variant_unref);
		about.why = KR_STOPPED;
	}
	said = g_variant_new("(ubm@" KR_ANSWER_TYPE ")", (guint32)about.why,
			     (gboolean)about.again, answer);
	if (answer)
		g_variant_unref(answer);
	return kr_wire_send(reader, KR_RESOLVED, said, -1);
}

static bool serve_packages(int reader, const char *sysroot, GVariant *body)
{
	GHashTable *paths = g_hash_table_new(kr_hash_string, g_str_equal);
	GVariant *asked = g_variant_get_child_value(body, 0);
	GVariantBuilder names;
	GPtrArray *packages;
	const char *path;
	gsize i;

	for (i = 0; i < g_variant_n_children(asked); i++) {
		g_variant_get_child(asked, i, "^&ay", &path);
		g_hash_table_add(paths, (gpointer)path);
	}
	packages = kr_packages_of_symbols(sysroot, paths);
	g_hash_table_destroy(paths);
	g_variant_unref(asked);
	g_variant_builder_init(&names, G_VARIANT_TYPE("aay"));
	for (i = 0; i < packages->len; i++)
		g_variant_builder_add_value(&names,
			g_variant_new_bytestring(g_ptr_array_index(packages, i)));
	g_ptr_array_unref(packages);
	return kr_wire_send(reader, KR_PACKAGES, g_variant_new("(aay)", &names), -1);
}

bool kr_parent_serve(int reader, struct kr_keeper *keeper, const char *sysroot)
{
	enum kr_wire kind;
	GVariant *body = kr_wire_receive(reader, &kind, NULL);
	bool done = false;

	if (!body)
		return false;
	if (kind == KR_RESOLVE)
		done = serve_resolve(reader, keeper, body);
	else if (kind == KR_ASK_PACKAGES)
		done = serve_packages(reader, sysroot, body);
	g_variant_unref(body);
	return done;
}

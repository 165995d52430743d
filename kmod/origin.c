// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Names of mappings, and what else a trace says about their files. */
#include <linux/dcache.h>
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kunwind/kunwind.h>
#include "cache.h"
#include "compat/fs.h"
#include "origin.h"
#include "owner.h"

/* Return: a reference; NULL if there is no memory. */
struct kw_name *kw_name_make(const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct kw_name *name;

	name = kw_alloc(struct_size(name, text, bytes), KW_GFP);
	if (!name)
		return NULL;
	refcount_set(&name->refs, 1);
	name->bytes = bytes;
	memcpy(name->text, text, bytes);
	return name;
}

/*
 * The path as the current task sees it in /proc/PID/maps: below its own root, and on an
 * overlay by the overlay's name.
 * Return: a reference; NULL if there is no memory or the path is too long.
 */
struct kw_name *kw_name_of_file(const struct file *file)
{
	struct kw_name *name = NULL;
	char *page, *path;

	page = kw_alloc(PATH_MAX, KW_GFP);
	if (!page)
		return NULL;
	path = d_path(file_user_path(file), page, PATH_MAX);
	if (!IS_ERR(path))
		name = kw_name_make(path);
	kvfree(page);
	return name;
}

void kw_name_put(struct kw_name *name)
{
	if (name && refcount_dec_and_test(&name->refs))
		kvfree(name);
}

static const char *text(const struct kw_origin *origin)
{
	return origin->name ? origin->name->text : "";
}

/* Whether a trace describes both in the same way, except for the offset. */
bool kw_origin_equal(const struct kw_origin *a, const struct kw_origin *b)
{
	const struct kw_table *s = a->table, *t = b->table;

	if (a->dev != b->dev || a->inode != b->inode)
		return false;
	if (s != t && (!s || !t || s->build_id_len != t->build_id_len ||
		       memcmp(s->build_id, t->build_id, s->build_id_len)))
		return false;
	return a->name == b->name || !strcmp(text(a), text(b));
}

/* Fill in the fields of @m that describe the file. */
void kw_origin_describe(const struct kw_origin *origin, struct kunwind_mapping *m)
{
	m->offset = origin->off;
	m->inode = origin->inode;
	m->dev = origin->dev;
	m->path = text(origin);
	m->build_id = origin->table ? origin->table->build_id : NULL;
	m->build_id_len = origin->table ? origin->table->build_id_len : 0;
}

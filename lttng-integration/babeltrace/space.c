// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The address spaces of a trace: a sorted array of mappings each. */
#include "space.h"

/* @last: consecutive stacks are mostly of one space. */
struct kr_spaces {
	GHashTable *arrays;
	uint64_t last;
	GArray *last_array;
};

struct kr_spaces *kr_spaces_new(void)
{
	struct kr_spaces *spaces = g_new0(struct kr_spaces, 1);

	spaces->arrays = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					       (GDestroyNotify)g_array_unref);
	return spaces;
}

void kr_spaces_free(struct kr_spaces *spaces)
{
	g_hash_table_destroy(spaces->arrays);
	g_free(spaces);
}

static GArray *find_array(struct kr_spaces *spaces, uint64_t space)
{
	if (!spaces->last_array || spaces->last != space) {
		spaces->last = space;
		spaces->last_array = g_hash_table_lookup(spaces->arrays, &space);
	}
	return spaces->last_array;
}

static void set_array(struct kr_spaces *spaces, uint64_t space, GArray *array)
{
	spaces->last_array = NULL;
	g_hash_table_replace(spaces->arrays, g_memdup2(&space, sizeof(space)),
			     array);
}

static struct kr_mapping *mapping_at(GArray *array, guint i)
{
	return &g_array_index(array, struct kr_mapping, i);
}

/* Return: the first mapping that ends behind an address. */
static guint first_behind(GArray *array, uint64_t address)
{
	guint low = 0, high = array->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (mapping_at(array, middle)->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return: where in the array a mapping of this range can be put. */
static guint cut(GArray *array, uint64_t start, uint64_t end)
{
	guint first = first_behind(array, start), last;
	struct kr_mapping *mapping, tail;

	if (first == array->len || mapping_at(array, first)->start >= end)
		return first;
	mapping = mapping_at(array, first);
	if (mapping->start < start) {
		tail = *mapping;
		mapping->end = start;
		first++;
		if (tail.end > end) {
			tail.offset += end - tail.start;
			tail.start = end;
			g_array_insert_val(array, first, tail);
			return first;
		}
	}
	for (last = first; last < array->len; last++) {
		mapping = mapping_at(array, last);
		if (mapping->end > end)
			break;
	}
	if (last < array->len && mapping->start < end) {
		mapping->offset += end - mapping->start;
		mapping->start = end;
	}
	if (last > first)
		g_array_remove_range(array, first, last - first);
	return first;
}

void kr_spaces_map(struct kr_spaces *spaces, uint64_t space,
		   const struct kr_mapping *mapping)
{
	GArray *array;

	if (mapping->start >= mapping->end)
		return;
	array = find_array(spaces, space);
	if (!array) {
		array = g_array_new(FALSE, FALSE, sizeof(struct kr_mapping));
		set_array(spaces, space, array);
	}
	g_array_insert_vals(array, cut(array, mapping->start, mapping->end),
			    mapping, 1);
}

void kr_spaces_unmap(struct kr_spaces *spaces, uint64_t space, uint64_t start,
		     uint64_t end)
{
	GArray *array = find_array(spaces, space);

	if (array && start < end)
		cut(array, start, end);
}

void kr_spaces_fork(struct kr_spaces *spaces, uint64_t parent, uint64_t child)
{
	GArray *array = find_array(spaces, parent);

	if (array && parent != child)
		set_array(spaces, child, g_array_copy(array));
}

void kr_spaces_exit(struct kr_spaces *spaces, uint64_t space)
{
	spaces->last_array = NULL;
	g_hash_table_remove(spaces->arrays, &space);
}

bool kr_spaces_know(struct kr_spaces *spaces, uint64_t space)
{
	return find_array(spaces, space);
}

const struct kr_mapping *kr_spaces_find(struct kr_spaces *spaces, uint64_t space,
					uint64_t address)
{
	GArray *array = find_array(spaces, space);
	guint i;

	if (!array)
		return NULL;
	i = first_behind(array, address);
	if (i == array->len || mapping_at(array, i)->start > address)
		return NULL;
	return mapping_at(array, i);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The address spaces of a trace: a sorted array of mappings each. */
#include "count_before.h"
#include "traced_space.h"

/**
 * struct space - what is known of an address space
 * @array: struct kr_mapping
 * @whole: there is nothing that is not known
 */
struct space {
	GArray *array;
	bool whole;
};

/**
 * struct kr_spaces - all of a trace
 * @spaces: struct space by number
 * @last: consecutive stacks are mostly of one space
 * @last_space: what was found then
 */
struct kr_spaces {
	GHashTable *spaces;
	uint64_t last;
	struct space *last_space;
};

static void free_space(gpointer data)
{
	struct space *space = data;

	g_array_unref(space->array);
	g_free(space);
}

struct kr_spaces *kr_spaces_new(void)
{
	struct kr_spaces *spaces = g_new0(struct kr_spaces, 1);

	spaces->spaces = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					       free_space);
	return spaces;
}

void kr_spaces_free(struct kr_spaces *spaces)
{
	g_hash_table_destroy(spaces->spaces);
	g_free(spaces);
}

static struct space *find_space(struct kr_spaces *spaces, uint64_t number)
{
	if (!spaces->last_space || spaces->last != number) {
		spaces->last = number;
		spaces->last_space = g_hash_table_lookup(spaces->spaces, &number);
	}
	return spaces->last_space;
}

static struct space *obtain_space(struct kr_spaces *spaces, uint64_t number)
{
	struct space *space = find_space(spaces, number);

	if (space)
		return space;
	space = g_new0(struct space, 1);
	space->array = g_array_new(FALSE, FALSE, sizeof(struct kr_mapping));
	g_hash_table_insert(spaces->spaces, g_memdup2(&number, sizeof(number)),
			    space);
	return space;
}

static struct kr_mapping *mapping_at(GArray *array, guint i)
{
	return &g_array_index(array, struct kr_mapping, i);
}

static bool ends_by(const void *element, uint64_t address)
{
	const struct kr_mapping *mapping = element;

	return mapping->end <= address;
}

/* Return: the first mapping that ends after an address. */
static guint first_after(GArray *array, uint64_t address)
{
	return kr_count_before(array, ends_by, address);
}

/* Return: where in the array a mapping of this range can be put. */
static guint cut(GArray *array, uint64_t start, uint64_t end)
{
	guint first = first_after(array, start), last;
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

static void map(GArray *array, const struct kr_mapping *mapping)
{
	g_array_insert_vals(array, cut(array, mapping->start, mapping->end),
			    mapping, 1);
}

void kr_spaces_map(struct kr_spaces *spaces, uint64_t number,
		   const struct kr_mapping *mapping)
{
	if (mapping->start < mapping->end)
		map(obtain_space(spaces, number)->array, mapping);
}

/* What is already there stays. */
static void fill(GArray *array, const struct kr_mapping *mapping)
{
	struct kr_mapping piece = *mapping;
	guint i = first_after(array, piece.start);

	while (piece.start < mapping->end) {
		const struct kr_mapping *next =
			i < array->len ? mapping_at(array, i) : NULL;
		uint64_t behind = next ? next->end : mapping->end;

		piece.offset = mapping->offset + (piece.start - mapping->start);
		piece.end = next ? MIN(next->start, mapping->end) : mapping->end;
		if (piece.start < piece.end)
			g_array_insert_val(array, i++, piece);
		piece.start = behind;
		i++;
	}
}

void kr_spaces_fill(struct kr_spaces *spaces, uint64_t number,
		    const struct kr_mapping *mapping)
{
	fill(obtain_space(spaces, number)->array, mapping);
}

void kr_spaces_unmap(struct kr_spaces *spaces, uint64_t number, uint64_t start,
		     uint64_t end)
{
	struct space *space = find_space(spaces, number);

	if (space && start < end)
		cut(space->array, start, end);
}

void kr_spaces_fork(struct kr_spaces *spaces, uint64_t parent, uint64_t child)
{
	const struct space *from = find_space(spaces, parent);
	struct space *to;
	guint i;

	if (!from || parent == child)
		return;
	to = obtain_space(spaces, child);
	for (i = 0; i < from->array->len; i++) {
		const struct kr_mapping *mapping = mapping_at(from->array, i);

		if (mapping->module)
			map(to->array, mapping);
		else
			fill(to->array, mapping);
	}
	to->whole |= from->whole;
}

void kr_spaces_add(struct kr_spaces *spaces, const struct kr_spaces *from)
{
	GHashTableIter iter;
	gpointer number, other;
	guint i;

	g_hash_table_iter_init(&iter, from->spaces);
	while (g_hash_table_iter_next(&iter, &number, &other)) {
		const struct space *theirs = other;
		struct space *ours = obtain_space(spaces, *(uint64_t *)number);

		for (i = 0; i < theirs->array->len; i++)
			fill(ours->array, mapping_at(theirs->array, i));
		ours->whole |= theirs->whole;
	}
}

void kr_spaces_exit(struct kr_spaces *spaces, uint64_t number)
{
	spaces->last_space = NULL;
	g_hash_table_remove(spaces->spaces, &number);
}

void kr_spaces_set_whole(struct kr_spaces *spaces, uint64_t number)
{
	obtain_space(spaces, number)->whole = true;
}

bool kr_spaces_whole(struct kr_spaces *spaces, uint64_t number)
{
	const struct space *space = find_space(spaces, number);

	return space && space->whole;
}

bool kr_spaces_has(struct kr_spaces *spaces, uint64_t number)
{
	const struct space *space = find_space(spaces, number);
	guint i;

	for (i = 0; space && i < space->array->len; i++)
		if (mapping_at(space->array, i)->module)
			return true;
	return false;
}

const struct kr_mapping *kr_spaces_find(struct kr_spaces *spaces, uint64_t number,
					uint64_t address)
{
	const struct space *space = find_space(spaces, number);
	guint i;

	if (!space)
		return NULL;
	i = first_after(space->array, address);
	if (i == space->array->len || mapping_at(space->array, i)->start > address)
		return NULL;
	return mapping_at(space->array, i);
}

void kr_spaces_doubt(struct kr_spaces *spaces)
{
	GHashTableIter iter;
	gpointer space;
	guint i;

	g_hash_table_iter_init(&iter, spaces->spaces);
	while (g_hash_table_iter_next(&iter, NULL, &space)) {
		GArray *array = ((struct space *)space)->array;

		for (i = 0; i < array->len; i++)
			mapping_at(array, i)->doubted = true;
	}
}

void kr_spaces_drop_doubted(struct kr_spaces *spaces)
{
	GHashTableIter iter;
	gpointer space;
	guint i, kept;

	g_hash_table_iter_init(&iter, spaces->spaces);
	while (g_hash_table_iter_next(&iter, NULL, &space)) {
		GArray *array = ((struct space *)space)->array;

		for (i = 0, kept = 0; i < array->len; i++)
			if (!mapping_at(array, i)->doubted)
				*mapping_at(array, kept++) = *mapping_at(array, i);
		g_array_set_size(array, kept);
	}
}

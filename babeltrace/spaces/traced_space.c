// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The address spaces of a trace, and the budget of all their mappings. */
#include <glib.h>
#include "reader_budgets.h"
#include "secret_hash.h"
#include "traced_space.h"

/**
 * struct space - what is known of an address space
 * @number: its number
 * @link: its place among all, the last used first
 * @mappings: what is mapped
 * @has_file: something has been told of it
 * @forked: it began with its parent's
 * @whole: all of it was told once
 * @whole_since: when that was, for sure; 0: never
 */
struct space {
	uint64_t number;
	GList link;
	struct kr_mappings *mappings;
	bool has_file;
	bool forked;
	bool whole;
	uint32_t whole_since;
};

/**
 * struct kr_spaces - all of a trace
 * @spaces: struct space by number
 * @used: the same, the last used first
 * @count: nodes of all mappings
 * @forgotten: how many spaces were, since that was asked
 * @now: when mappings are told, from 1 on; counts dumps and losses
 * @sure: what is told now is
 * @loss: when events were lost last
 * @dump: when the last dump began
 * @floor: what was told before is not there any more
 */
struct kr_spaces {
	GHashTable *spaces;
	GQueue used;
	uint64_t count;
	uint64_t forgotten;
	uint32_t now;
	bool sure;
	uint32_t loss;
	uint32_t dump;
	uint32_t floor;
};

struct kr_spaces *kr_spaces_new(void)
{
	struct kr_spaces *spaces = g_new0(struct kr_spaces, 1);

	spaces->spaces = g_hash_table_new(kr_hash_number, g_int64_equal);
	spaces->now = 1;
	spaces->sure = true;
	return spaces;
}

static void forget(struct kr_spaces *spaces, struct space *space)
{
	g_hash_table_remove(spaces->spaces, &space->number);
	g_queue_unlink(&spaces->used, &space->link);
	kr_mappings_unref(space->mappings, &spaces->count);
	g_free(space);
}

void kr_spaces_free(struct kr_spaces *spaces)
{
	while (spaces->used.head)
		forget(spaces, spaces->used.head->data);
	g_hash_table_destroy(spaces->spaces);
	g_free(spaces);
}

/* Consecutive stacks are mostly of one space. */
static struct space *find_space(struct kr_spaces *spaces, uint64_t number)
{
	struct space *space = g_queue_peek_head(&spaces->used);

	if (space && space->number == number)
		return space;
	space = g_hash_table_lookup(spaces->spaces, &number);
	if (space) {
		g_queue_unlink(&spaces->used, &space->link);
		g_queue_push_head_link(&spaces->used, &space->link);
	}
	return space;
}

/* A space of which nothing is mapped takes memory, too. */
static void make_room(struct kr_spaces *spaces)
{
	while (spaces->count + spaces->used.length > KR_MAPPINGS) {
		forget(spaces, spaces->used.tail->data);
		spaces->forgotten++;
	}
}

static struct space *obtain_space(struct kr_spaces *spaces, uint64_t number)
{
	struct space *space = find_space(spaces, number);

	make_room(spaces);
	/* If there are no others, it was forgotten itself. */
	if (space && spaces->used.length)
		return space;
	space = g_new0(struct space, 1);
	space->number = number;
	space->link.data = space;
	g_hash_table_insert(spaces->spaces, &space->number, space);
	g_queue_push_head_link(&spaces->used, &space->link);
	return space;
}

static bool is_there(const struct kr_spaces *spaces, const struct kr_mapping *mapping)
{
	return mapping->told >= spaces->floor;
}

static void put(struct kr_spaces *spaces, struct space *space,
		const struct kr_mapping *mapping)
{
	space->mappings = kr_mappings_put(space->mappings, mapping, &spaces->count);
	space->has_file |= mapping->module != NULL;
}

/*
 * What a dump did not have would keep its addresses. A range of any length costs no more than
 * so many looks: who made the trace chose how many mappings lie in it, and how often it comes.
 */
static void clear_dropped(struct kr_spaces *spaces, struct space *space, uint64_t start,
			  uint64_t end)
{
	const struct kr_mapping *mapping = kr_mappings_after(space->mappings, start);
	unsigned int looks;

	for (looks = 0; mapping && mapping->start < end && looks < KR_DROPPED_LOOKS; looks++) {
		uint64_t from = MAX(start, mapping->start);
		uint64_t next = mapping->end;

		if (!is_there(spaces, mapping))
			space->mappings = kr_mappings_cut(space->mappings, from, MIN(end, next),
							  &spaces->count);
		mapping = kr_mappings_after(space->mappings, next);
	}
}

static void fill(struct kr_spaces *spaces, struct space *space,
		 const struct kr_mapping *mapping)
{
	if (spaces->floor)
		clear_dropped(spaces, space, mapping->start, mapping->end);
	space->mappings = kr_mappings_fill(space->mappings, mapping, &spaces->count);
	space->has_file |= mapping->module != NULL;
}

void kr_spaces_map(struct kr_spaces *spaces, uint64_t number,
		   const struct kr_mapping *mapping)
{
	struct kr_mapping told = *mapping;

	told.told = spaces->now;
	told.doubted = !spaces->sure;
	put(spaces, obtain_space(spaces, number), &told);
}

void kr_spaces_fill(struct kr_spaces *spaces, uint64_t number,
		    const struct kr_mapping *mapping)
{
	struct kr_mapping told = *mapping;

	told.told = spaces->now;
	told.doubted = !spaces->sure;
	fill(spaces, obtain_space(spaces, number), &told);
}

void kr_spaces_unmap(struct kr_spaces *spaces, uint64_t number, uint64_t start,
		     uint64_t end)
{
	struct space *space = find_space(spaces, number);

	if (!space)
		return;
	space->mappings = kr_mappings_cut(space->mappings, start, end, &spaces->count);
	/* What forks share is copied where one of them is cut. */
	make_room(spaces);
}

void kr_spaces_fork(struct kr_spaces *spaces, uint64_t parent, uint64_t child)
{
	struct space *from = find_space(spaces, parent), *to;
	const struct kr_mapping *mapping;
	struct kr_mappings *own;

	if (!from || parent == child)
		return;
	to = obtain_space(spaces, child);
	from = find_space(spaces, parent);
	if (!from || to->forked)
		return;
	to->forked = true;
	to->whole |= from->whole;
	to->whole_since = MAX(to->whole_since, from->whole_since);
	to->has_file |= from->has_file;
	own = to->mappings;
	to->mappings = kr_mappings_ref(from->mappings);
	for (mapping = kr_mappings_after(own, 0); mapping;
	     mapping = kr_mappings_after(own, mapping->end)) {
		if (mapping->module && is_there(spaces, mapping))
			put(spaces, to, mapping);
		else
			fill(spaces, to, mapping);
	}
	kr_mappings_unref(own, &spaces->count);
}

void kr_spaces_add(struct kr_spaces *spaces, const struct kr_spaces *from, bool sure)
{
	const struct kr_mapping *mapping;
	bool before = spaces->sure;
	GList *at;

	spaces->sure = sure;
	for (at = from->used.head; at; at = at->next) {
		const struct space *theirs = at->data;

		if (theirs->whole)
			kr_spaces_set_whole(spaces, theirs->number);
		for (mapping = kr_mappings_after(theirs->mappings, 0); mapping;
		     mapping = kr_mappings_after(theirs->mappings, mapping->end))
			kr_spaces_fill(spaces, theirs->number, mapping);
	}
	spaces->sure = before;
	spaces->forgotten += from->forgotten;
}

uint64_t kr_spaces_take_forgotten(struct kr_spaces *spaces)
{
	uint64_t forgotten = spaces->forgotten;

	spaces->forgotten = 0;
	return forgotten;
}

void kr_spaces_exit(struct kr_spaces *spaces, uint64_t number)
{
	struct space *space = find_space(spaces, number);

	if (space)
		forget(spaces, space);
}

void kr_spaces_set_whole(struct kr_spaces *spaces, uint64_t number)
{
	struct space *space = obtain_space(spaces, number);

	space->whole = true;
	if (spaces->sure)
		space->whole_since = spaces->now;
}

bool kr_spaces_whole(struct kr_spaces *spaces, uint64_t number)
{
	const struct space *space = find_space(spaces, number);

	return space && space->whole;
}

bool kr_spaces_whole_now(struct kr_spaces *spaces, uint64_t number)
{
	const struct space *space = find_space(spaces, number);

	return space && space->whole_since && space->whole_since >= spaces->loss;
}

bool kr_spaces_has(struct kr_spaces *spaces, uint64_t number)
{
	const struct space *space = find_space(spaces, number);

	return space && space->has_file;
}

const struct kr_mapping *kr_spaces_find(struct kr_spaces *spaces, uint64_t number,
					uint64_t address)
{
	const struct space *space = find_space(spaces, number);
	const struct kr_mapping *mapping;

	if (!space)
		return NULL;
	mapping = kr_mappings_after(space->mappings, address);
	if (!mapping || mapping->start > address || !is_there(spaces, mapping))
		return NULL;
	return mapping;
}

void kr_spaces_lose(struct kr_spaces *spaces)
{
	spaces->loss = ++spaces->now;
}

void kr_spaces_set_sure(struct kr_spaces *spaces, bool sure)
{
	spaces->sure = sure;
}

bool kr_spaces_are_sure(const struct kr_spaces *spaces, const struct kr_mapping *mapping)
{
	return !mapping->doubted && mapping->told >= spaces->loss;
}

void kr_spaces_doubt(struct kr_spaces *spaces)
{
	spaces->dump = ++spaces->now;
}

void kr_spaces_drop_doubted(struct kr_spaces *spaces)
{
	spaces->floor = spaces->dump;
}

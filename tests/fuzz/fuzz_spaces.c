// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Mappings of address spaces: two bytes of the input are what happens, and on which of a few
 * pages. A table of these pages says what must be found then.
 */
#include <string.h>
#include "fuzz_reader.h"
#include "traced_space.h"

#define PAGES	16
#define SPACES	4

/**
 * struct page - what is on it
 * @offset: the mapping's; 0: there is none
 * @from: the mapping's first page
 * @file: the mapping is one's
 * @sure: nothing was lost when it was told, or since
 * @fresh: it was told since the last dump began
 */
struct page {
	u8 offset;
	u8 from;
	bool file;
	bool sure;
	bool fresh;
};

struct space {
	bool known;
	bool forked;
	bool has_file;
	bool whole;
	bool whole_now;
	struct page pages[PAGES];
};

/* What is told: as events are applied, and of the time before a dump. */
struct told {
	struct kr_spaces *now, *past;
	struct space model[SPACES], past_model[SPACES];
	bool sure;
};

enum what {
	MAP, FILL, UNMAP, FORK, EXIT, SET_WHOLE, RECALL, RECALL_WHOLE, SETTLE, LOSE, BE_UNSURE,
	BE_SURE, DOUBT, DROP, NR_WHAT
};

static void check_page(struct told *told, u32 number, u32 page)
{
	const struct kr_mapping *found = kr_spaces_find(told->now, number + 1, page);
	const struct page *want = &told->model[number].pages[page];

	must(!found == !want->offset);
	if (!found)
		return;
	must(found->start <= page && page < found->end);
	must(found->offset + page - found->start == (u64)want->offset + page - want->from);
	must(!found->module == !want->file);
	must(kr_spaces_are_sure(told->now, found) == want->sure);
}

static void check(struct told *told)
{
	u32 number, page;

	for (number = 0; number < SPACES; number++) {
		const struct space *want = &told->model[number];

		must(kr_spaces_has(told->now, number + 1) == want->has_file);
		must(kr_spaces_whole(told->now, number + 1) == want->whole);
		must(kr_spaces_whole_now(told->now, number + 1) == want->whole_now);
		for (page = 0; page < PAGES; page++)
			check_page(told, number, page);
	}
}

static void cover(struct space *space, const struct kr_mapping *mapping, bool sure, bool all)
{
	const struct page page = { mapping->offset, mapping->start, mapping->module, sure, true };
	u64 i;

	space->known = true;
	space->has_file |= page.file;
	for (i = mapping->start; i < mapping->end; i++)
		if (all || !space->pages[i].offset)
			space->pages[i] = page;
}

static void set_whole(struct space *space, bool sure)
{
	space->known = true;
	space->whole = true;
	space->whole_now |= sure;
}

/* What is known of the child's files is newer. */
static void fork_space(const struct space *from, struct space *to)
{
	u32 i;

	if (!from->known || from == to || to->forked)
		return;
	to->known = true;
	to->forked = true;
	to->has_file |= from->has_file;
	to->whole |= from->whole;
	to->whole_now |= from->whole_now;
	for (i = 0; i < PAGES; i++)
		if (from->pages[i].offset && !to->pages[i].file)
			to->pages[i] = from->pages[i];
}

static void settle(struct told *told, bool sure)
{
	u32 number, i;

	kr_spaces_add(told->now, told->past, sure);
	for (number = 0; number < SPACES; number++) {
		const struct space *past = &told->past_model[number];
		struct space *space = &told->model[number];

		if (past->whole)
			set_whole(space, sure);
		for (i = 0; i < PAGES; i++) {
			struct page page = past->pages[i];

			if (!page.offset)
				continue;
			page.sure = sure;
			space->known = true;
			space->has_file |= page.file;
			if (!space->pages[i].offset)
				space->pages[i] = page;
		}
	}
	kr_spaces_free(told->past);
	told->past = kr_spaces_new();
	memset(told->past_model, 0, sizeof(told->past_model));
}

/* What happens to all that was told. */
static void age(struct told *told, enum what what)
{
	u32 number, i;

	for (number = 0; number < SPACES; number++) {
		struct space *space = &told->model[number];

		space->whole_now &= what != LOSE;
		for (i = 0; i < PAGES; i++) {
			struct page *page = &space->pages[i];

			page->sure &= what != LOSE;
			page->fresh &= what != DOUBT;
			if (what == DROP && !page->fresh)
				memset(page, 0, sizeof(*page));
		}
	}
}

static void happen(struct told *told, enum what what, u32 number,
		   const struct kr_mapping *mapping)
{
	struct space *space = &told->model[number];
	u32 other = mapping->start % SPACES;

	switch (what) {
	case MAP:
		kr_spaces_map(told->now, number + 1, mapping);
		cover(space, mapping, told->sure, true);
		break;
	case FILL:
		kr_spaces_fill(told->now, number + 1, mapping);
		cover(space, mapping, told->sure, false);
		break;
	case UNMAP:
		kr_spaces_unmap(told->now, number + 1, mapping->start, mapping->end);
		if (mapping->start < mapping->end)
			memset(&space->pages[mapping->start], 0,
			       (mapping->end - mapping->start) * sizeof(space->pages[0]));
		break;
	case FORK:
		kr_spaces_fork(told->now, other + 1, number + 1);
		fork_space(&told->model[other], space);
		break;
	case EXIT:
		kr_spaces_exit(told->now, number + 1);
		memset(space, 0, sizeof(*space));
		break;
	case SET_WHOLE:
		kr_spaces_set_whole(told->now, number + 1);
		set_whole(space, told->sure);
		break;
	case RECALL:
		kr_spaces_fill(told->past, number + 1, mapping);
		cover(&told->past_model[number], mapping, true, false);
		break;
	case RECALL_WHOLE:
		kr_spaces_set_whole(told->past, number + 1);
		set_whole(&told->past_model[number], true);
		break;
	case SETTLE:
		settle(told, number & 1);
		break;
	case LOSE:
		kr_spaces_lose(told->now);
		age(told, what);
		break;
	case BE_UNSURE:
	case BE_SURE:
		told->sure = what == BE_SURE;
		kr_spaces_set_sure(told->now, told->sure);
		break;
	case DOUBT:
		kr_spaces_doubt(told->now);
		age(told, what);
		break;
	default:
		kr_spaces_drop_doubted(told->now);
		age(told, what);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static char file;
	struct told told = { .now = kr_spaces_new(), .past = kr_spaces_new(), .sure = true };
	size_t i;

	for (i = 0; i + 1 < size; i += 2) {
		const u32 choice = data[i] / SPACES;
		const struct kr_mapping mapping = {
			.start = data[i + 1] % PAGES, .end = data[i + 1] / PAGES,
			.offset = i % 200 + 1,
			.module = choice / NR_WHAT & 1 ? (struct kr_module *)&file : NULL,
		};

		happen(&told, choice % NR_WHAT, data[i] % SPACES, &mapping);
		check(&told);
	}
	must(!kr_spaces_take_forgotten(told.now));
	kr_spaces_free(told.now);
	kr_spaces_free(told.past);
	return 0;
}

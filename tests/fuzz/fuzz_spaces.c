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

/* What is on a page: an offset, and the page that has it; 0: nothing. */
struct page {
	u8 offset;
	u8 from;
};

struct space {
	bool known;
	bool forked;
	struct page pages[PAGES];
};

static void check(struct kr_spaces *spaces, const struct space model[SPACES])
{
	const struct kr_mapping *found;
	u32 space, page;

	for (space = 0; space < SPACES; space++)
		for (page = 0; page < PAGES; page++) {
			const struct page *want = &model[space].pages[page];

			found = kr_spaces_find(spaces, space + 1, page);
			must(!found == !want->offset);
			must(!found || (found->start <= page && page < found->end &&
					found->offset + page - found->start ==
					(u64)want->offset + page - want->from));
		}
}

static void cover(struct space *space, const struct kr_mapping *mapping, bool all)
{
	u64 page;

	space->known = true;
	for (page = mapping->start; page < mapping->end; page++)
		if (all || !space->pages[page].offset)
			space->pages[page] = (struct page){ mapping->offset, mapping->start };
}

static void fork_model(const struct space *from, struct space *to)
{
	u32 page;

	if (!from->known || from == to || to->forked)
		return;
	to->known = true;
	to->forked = true;
	for (page = 0; page < PAGES; page++)
		if (from->pages[page].offset)
			to->pages[page] = from->pages[page];
}

static void happen(struct kr_spaces *spaces, struct space model[SPACES], u32 what, u32 number,
		   const struct kr_mapping *mapping)
{
	struct space *space = &model[number];
	u64 page;

	switch (what) {
	case 0:
		kr_spaces_map(spaces, number + 1, mapping);
		cover(space, mapping, true);
		break;
	case 1:
		kr_spaces_fill(spaces, number + 1, mapping);
		cover(space, mapping, false);
		break;
	case 2:
		kr_spaces_unmap(spaces, number + 1, mapping->start, mapping->end);
		for (page = mapping->start; page < mapping->end; page++)
			space->pages[page].offset = 0;
		break;
	case 3:
		kr_spaces_fork(spaces, mapping->start % SPACES + 1, number + 1);
		fork_model(&model[mapping->start % SPACES], space);
		break;
	default:
		kr_spaces_exit(spaces, number + 1);
		memset(space, 0, sizeof(*space));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct kr_spaces *spaces = kr_spaces_new();
	struct space model[SPACES] = { 0 };
	size_t i;

	for (i = 0; i + 1 < size; i += 2) {
		const struct kr_mapping mapping = {
			.start = data[i + 1] % PAGES, .end = data[i + 1] / PAGES,
			.offset = i % 200 + 1,
		};

		happen(spaces, model, data[i] / SPACES % 5, data[i] % SPACES, &mapping);
		check(spaces, model);
	}
	kr_spaces_free(spaces);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.5: the size of a structure with a flexible array, without a pointer to one. */
#include <linux/build_bug.h>
#include <linux/overflow.h>

struct flexible {
	int count;
	int items[];
};

static __maybe_unused size_t probe(size_t count)
{
	return struct_size_t(struct flexible, items, count);
}

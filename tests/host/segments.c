// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Loads libraries, and compares where their executable mappings put their addresses with
 * what ld.so says (struct link_map).
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load.h"

/* Return: how many executable mappings of the library are right, or -1. */
static int check(const char *path)
{
	struct host_space space;
	struct link_map *library;
	void *code[2];
	int right = 0;
	u32 i, j;

	library = dlopen(path, RTLD_NOW);
	if (!library || host_space_of(&space, 0))
		return -1;
	code[0] = dlsym(library, "usual");
	code[1] = dlsym(library, "unlikely");
	for (i = 0; i < space.map->count; i++) {
		const struct kuw_mapping *m = &space.map->mappings[i];

		for (j = 0; j < 2; j++) {
			if ((u64)code[j] < m->start || (u64)code[j] >= m->end)
				continue;
			if (m->kind == KUW_MAPPING_TABLE && m->bias == library->l_addr)
				right++;
			else
				printf("# %s+%#lx: kind %u, bias %#lx\n", path,
				       (unsigned long)code[j] - library->l_addr, m->kind,
				       (unsigned long)(m->bias - library->l_addr));
		}
	}
	host_space_free(&space);
	return right;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return check(argv[1]) == 2 ? 0 : 1;
}

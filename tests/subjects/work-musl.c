// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What programs of Alpine do all day in musl's libc: allocate, format, sort, search, copy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 20000

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(void)
{
	static char *lines[COUNT];
	FILE *null = fopen("/dev/null", "w");
	char line[64];
	int i, found = 0;

	if (!null)
		return 1;
	for (i = 0; i < COUNT; i++) {
		snprintf(line, sizeof(line), "%08x %s %.3f", i * 7919u % COUNT, "line", i / 7.0);
		lines[i] = strdup(line);
	}
	qsort(lines, COUNT, sizeof(lines[0]), compare);
	for (i = 0; i < COUNT; i++) {
		char *key = lines[i];

		found += !!bsearch(&key, lines, COUNT, sizeof(lines[0]), compare);
		fprintf(null, "%d: %s\n", i, lines[i]);
	}
	for (i = 0; i < COUNT; i++)
		free(lines[i]);
	return found != COUNT;
}

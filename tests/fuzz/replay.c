// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* replay FILE|DIR ...: a target's inputs, without libFuzzer. TAP. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include "fuzz.h"

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	u8 *bytes;
	long size;

	if (!file)
		return -1;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	bytes = malloc(size > 0 ? (size_t)size : 1);
	if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		fclose(file);
		free(bytes);
		return -1;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	int i, count = 0, failed = 0;

	for (i = 1; i < argc; i++) {
		struct dirent **names;
		int n = scandir(argv[i], &names, NULL, alphasort), j;
		char path[4096];

		if (n < 0) {
			failed |= replay_file(argv[i]);
			count++;
			continue;
		}
		for (j = 0; j < n; j++) {
			snprintf(path, sizeof(path), "%s/%s", argv[i],
				 names[j]->d_name);
			if (names[j]->d_name[0] != '.') {
				failed |= replay_file(path);
				count++;
			}
			free(names[j]);
		}
		free(names);
	}
	printf("1..1\n%sok 1 - %s: %d inputs\n", failed ? "not " : "",
	       argv[0], count);
	return failed != 0;
}
